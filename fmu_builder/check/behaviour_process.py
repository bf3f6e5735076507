"""`python -P -m fmu_builder.check.behaviour_process FMU FOLDER LIBRARY RESULT [RULE ...]`: try rules on an FMU.

FOLDER is where the FMU is unpacked, LIBRARY the archive name of its library for this machine.  RESULT is a file that
gets lines of JSON as things happen, so that a crash can be named: {"rule"}, {"call"} before each call, {"found"},
{"load"} for a library that cannot be loaded, {"missing"} for a function, {"fatal"}, {"fault"} for one of this package,
{"end"}."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from fmu_builder.check.behaviour_rules import RULES
from fmu_builder.check.document import Fmu
from fmu_builder.check.trial import FatalError, Trial
from fmu_builder.export.smoke import Refused, Unpacked


def main(path: str, folder: str, library: str, result: str, wanted: Sequence[str]) -> None:
    with Path(result).open("a", encoding="utf-8", buffering=1) as lines:

        def report(**what: str) -> None:
            lines.write(json.dumps(what) + "\n")

        unpacked = Unpacked(folder, library, (Path(folder) / "resources").as_uri())
        trial = Trial(Fmu(Path(path)), unpacked, lambda call: report(call=call))
        try:
            trial.raw().free()
        except Refused:
            pass  # B04 names it
        except (OSError, AttributeError) as error:
            report(load=str(error))
            wanted = ()
        for rule in RULES:
            if rule.id in wanted:
                report(rule=rule.id)
                try:
                    for found in rule.find(trial):
                        report(found=found.what)
                except AttributeError as error:  # a function is missing, as A09 says
                    report(missing=str(error))
                except FatalError as error:
                    report(fatal=str(error))
                    os._exit(0)
                except Exception:  # of this package, which is no crash of the FMU
                    report(fault=traceback.format_exc())
                    os._exit(0)
        report(end="")
    os._exit(0)  # other libraries of the FMU at the end of a process do not belong to its run


if __name__ == "__main__":
    fmu, folder, library, result, *rules = sys.argv[1:]
    main(fmu, folder, library, result, rules)
