"""What breaks OASIS SARIF 2.1.0 in a log, by rules written from the standard for the objects that `check` writes.

A property that is not declared here is a problem, as one that the standard does not have would be: what `check` comes
to write is to be declared first.  Numbers are sections of the standard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import jsonschema

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
LEVEL: Json = {"enum": ["none", "note", "warning", "error"]}  # 3.27.10
INDEX: Json = {"type": "integer", "minimum": -1}  # 3.7.4: -1 for none


def record(required: str = "", **properties: Json) -> Json:
    """An object with these properties, and a property bag (3.8) as any object may have."""
    known = properties | {"properties": {"type": "object"}}
    return {"type": "object", "properties": known, "required": required.split(), "additionalProperties": False}


def row(of: Json, distinct: bool = False) -> Json:
    return {"type": "array", "items": of, "uniqueItems": distinct}


MESSAGE = record("text", text=TEXT)  # 3.11; an id instead of the text needs strings, which `check` has none of
BOTH_FORMS = record("text", text=TEXT, markdown=TEXT)  # 3.12 multiformatMessageString
URI: Json = {"type": "string", "pattern": r"^([A-Za-z0-9_\-.~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$"}  # RFC 3986, 2
ARTIFACT_LOCATION = record(uri=URI, index=INDEX)  # 3.4
ARTIFACT = record(location=ARTIFACT_LOCATION, parentIndex=INDEX)  # 3.24
REGION = record(startLine={"type": "integer", "minimum": 1})  # 3.30
PHYSICAL = record("artifactLocation", artifactLocation=ARTIFACT_LOCATION, region=REGION)  # 3.29; or an address
LOCATION = record("physicalLocation", physicalLocation=PHYSICAL)  # 3.28; or a logical one
RULE = record(  # 3.49 reportingDescriptor
    "id", id=TEXT, name=TEXT, shortDescription=BOTH_FORMS, help=BOTH_FORMS, defaultConfiguration=record(level=LEVEL)
)
DRIVER = record("name", name=TEXT, version=TEXT, rules=row(RULE, distinct=True))  # 3.19 toolComponent
NOTIFICATION = record("message", message=MESSAGE, level=LEVEL)  # 3.58
INVOCATION = record(  # 3.20
    "executionSuccessful", executionSuccessful={"type": "boolean"}, toolExecutionNotifications=row(NOTIFICATION)
)
RESULT = record(  # 3.27
    "message", ruleId=TEXT, ruleIndex=INDEX, level=LEVEL, message=MESSAGE, locations=row(LOCATION)
)
RUN = record(  # 3.14
    "tool",
    tool=record("driver", driver=DRIVER),  # 3.18
    invocations=row(INVOCATION),
    artifacts=row(ARTIFACT, distinct=True),
    results=row(RESULT),
)
LOG = record("version runs", version={"const": "2.1.0"}, runs=row(RUN), **{"$schema": TEXT})  # 3.13 sarifLog


def sarif_problems(log: Json) -> list[str]:
    """What is wrong, with its place."""
    errors = jsonschema.Draft202012Validator(LOG).iter_errors(log)
    found = [f"{error.json_path}: {error.message}" for error in errors]
    return found or [problem for one in log["runs"] for problem in _references(one)]


def _references(run: Json) -> Iterator[str]:
    """What no schema can say: indices name what they are of, and a reader can resolve each URI."""
    rules, artifacts = run["tool"]["driver"].get("rules", []), run.get("artifacts", [])
    if len({rule["id"] for rule in rules}) < len(rules):
        yield "rules: an id occurs twice (3.49.3)"
    for artifact in artifacts:
        parent = artifact.get("parentIndex", -1)
        if parent >= len(artifacts) or (parent >= 0 and artifacts[parent] is artifact):
            yield f"artifacts: parentIndex {parent} is none of another artifact (3.24.3)"
        yield from _uri(artifact.get("location", {}))
    for result in run.get("results", []):
        index = result.get("ruleIndex", -1)
        if index >= 0 and (index >= len(rules) or rules[index]["id"] != result.get("ruleId")):
            yield f"results: ruleIndex {index} is not that of ruleId {result.get('ruleId')} (3.27.5, 3.27.6)"
        for location in result.get("locations", []):
            place = location["physicalLocation"]["artifactLocation"]
            index = place.get("index", -1)
            if index >= len(artifacts):
                yield f"results: there is no artifact of index {index} (3.4.5)"
            elif index >= 0 and artifacts[index].get("location", {}).get("uri") != place.get("uri"):
                yield f"results: artifact {index} is not {place.get('uri')} (3.4.5)"
            yield from _uri(place)


def _uri(location: Json) -> Iterator[str]:
    """An absolute URI, or a path below what the reader takes as base (3.10.1; RFC 3986, 4.2)."""
    uri = location.get("uri", "")
    if not urlsplit(uri).scheme and uri.startswith("/"):
        yield f"{uri} begins with a slash, so that it has neither a scheme nor a base"
