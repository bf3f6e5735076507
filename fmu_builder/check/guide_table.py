"""The table of rules in guide/check.md: `python -m fmu_builder.check.guide_table`."""

from __future__ import annotations

from fmu_builder.check.output import rules_table
from fmu_builder.export.element_docs import with_sections, write_text
from fmu_builder.paths import PACKAGE

PAGE = PACKAGE / "guide" / "check.md"


def page() -> str:
    """guide/check.md with the rules as they are now."""
    return with_sections(PAGE, {"rules": rules_table})


if __name__ == "__main__":
    write_text(PAGE, page())
