"""The table of rules in guide/recording.md: `python -m fmu_builder.recording.guide_table`."""

from __future__ import annotations

from fmu_builder.check.output import rules_table
from fmu_builder.export.element_docs import with_sections, write_text
from fmu_builder.paths import PACKAGE
from fmu_builder.recording.rules import ALL

PAGE = PACKAGE / "guide" / "recording.md"


def page() -> str:
    """guide/recording.md with the rules as they are now."""
    return with_sections(PAGE, {"rules": lambda: rules_table(ALL)})


if __name__ == "__main__":
    write_text(PAGE, page())
