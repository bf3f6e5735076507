"""Every block of code in the guide does what the page says: files are written, commands and Python run, top to bottom.

```toml title="drop.toml"     is written to that file, ```python title="test_drop.py" too
```console                    `$ command` runs and must succeed; each line below it must be in what it prints
```python                     runs; all blocks of a page share their names
```text, yaml, or indented    an illustration; below a line that ends with `FILE`: its lines must be in that file
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.paths import find_recipe, shipped
from fmu_builder.version import __version__

GUIDE = Path(__file__).parents[2] / "fmu_builder" / "guide"
FOLDERS = [shipped(name).parent for name in ("elements", "fmus")]
SCRIPTS = [path.read_text(encoding="utf-8") for path in GUIDE.glob("*.py")]
PAGES = sorted(path for path in GUIDE.glob("*.md"))
BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
QUOTE = re.compile(r"`([\w/]+\.\w+)`:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLAIN = ("text", "c", "yaml")  # illustrations


def words(text: str) -> str:
    return " ".join(text.split())


def run_commands(session: str) -> None:
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, *expected = part.strip().splitlines()
        program, *arguments = shlex.split(command)
        code, printed = run_pytest(arguments) if program == "pytest" else run_command(program, arguments)
        assert code == 0, f"{command}\n{printed}"
        for line in expected:
            assert words(line) in words(printed), f"{command} does not print {line!r}:\n{printed}"


def run_command(program: str, arguments: list[str]) -> tuple[int, str]:
    assert program == "fmu-builder", program
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output


def run_pytest(arguments: list[str]) -> tuple[int, str]:
    """With the plugin as an installed fmu-builder brings it."""
    command = [sys.executable, "-m", "pytest", "-p", "fmu_builder.testing", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(GUIDE.parents[1]), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_block_of_a_page_does_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        language, title, body = block["language"], block["title"], block["body"]
        if title:
            Path(title).parent.mkdir(parents=True, exist_ok=True)
            Path(title).write_text(body, encoding="utf-8")
        elif language == "console":
            run_commands(body)
        elif language == "python":
            exec(compile(body, f"{page.name}:{page.read_text().count(os.linesep, 0, block.start())}", "exec"), names)
        else:
            assert language in PLAIN or page.stem == "element-reference", f"{page.name}: a block of {language}"
    for name, lines in QUOTE.findall(page.read_text(encoding="utf-8")):
        path = next(folder / name for folder in (Path(), *FOLDERS) if (folder / name).is_file())
        there = {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}
        assert {line.strip() for line in lines.splitlines()} <= there, f"{page.name}: {name}"


@pytest.mark.slow
def test_the_commands_of_the_workflow_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of fmu-builder, for this machine alone; the other steps are those of a runner."""
    monkeypatch.chdir(tmp_path)
    Path("models").mkdir()
    Path("models/Floor.toml").write_text('element = "point_surface"\n[surface]\nkind = "plane"\n', encoding="utf-8")
    workflow = (GUIDE / "ci.md").read_text(encoding="utf-8")
    for step in re.findall(r"^      - run: fmu-builder (.+)$", workflow, re.MULTILINE):
        command, _, target = step.partition(" > ")
        on_host = ["--platform", "host"] if command.startswith("build ") else []
        result = CliRunner().invoke(app, [*shlex.split(command), *on_host])
        assert result.exit_code == 0, result.output
        if target:
            Path(target).write_text(result.stdout, encoding="utf-8")
    assert json.loads(Path("check.sarif").read_text(encoding="utf-8"))["runs"][0]["results"] == []
    assert f"fmu_builder-{__version__}-py3-none-any.whl" in workflow


def test_the_index_lists_every_page_once() -> None:
    index = (GUIDE / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\d+\. \[[^\]]+\]\((\S+)\)", index, re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in PAGES if path.name != "index.md")


def test_the_site_has_the_pages_in_the_order_of_the_index() -> None:
    site = (GUIDE.parents[1] / ".ci" / "mkdocs.yml").read_text(encoding="utf-8")
    index = (GUIDE / "index.md").read_text(encoding="utf-8")
    pages = re.findall(r"^\d+\. \[[^\]]+\]\((\S+)\)", index, re.MULTILINE)
    assert re.findall(r"^  - (\S+\.md)$", site, re.MULTILINE) == ["index.md", *pages]


def test_every_link_of_the_guide_leads_to_a_page() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?://)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert (GUIDE / target).is_file(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", ["fmi3", "modelica", "check", "recording", "ci", "probes", "terminals", "live"])
def test_a_page_of_a_tool_shows_a_picture(page: str) -> None:
    """Each is small, and a script of this folder draws it."""
    shown = re.findall(r"^!\[[^\]]+\]\((\S+)\)$", (GUIDE / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert shown
    for name in shown:
        assert 1000 < (GUIDE / name).stat().st_size <= 200_000
        assert any(f'"{name}"' in text or f"def {Path(name).stem}(" in text for text in SCRIPTS), name
        if name.endswith(".svg"):
            assert ElementTree.parse(GUIDE / name).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_guide_holds_three_live_pages_of_its_files_and_of_recipes() -> None:
    """.ci/guide_live.py makes them where `<!-- live: NAME -->` stands."""
    found = [(path, name) for path in PAGES for name in re.findall(r"^<!-- live: (.*) -->$", path.read_text(), re.M)]
    assert len(found) == 3
    for path, name in found:
        titles = [match["title"] for match in BLOCK.finditer(path.read_text(encoding="utf-8"))]
        assert name in titles or find_recipe(name, GUIDE).is_file()
