"""The ready-made laws of elements as functions of a package."""

from __future__ import annotations

import html as markup
import re

from fmu_builder.files import read_text
from fmu_builder.laws.modelica_source import law_functions
from fmu_builder.laws.text import read_laws
from fmu_builder.laws.tree import Source
from fmu_builder.modelica import words
from fmu_builder.modelica.element_class import has_modelica
from fmu_builder.paths import shipped_elements

FILE = "laws.txt"


def ready_made_laws() -> dict[str, str]:
    """The function of each law of the shipped elements that have a Modelica form, by name."""
    found: dict[str, str] = {}
    for folder in shipped_elements():
        path = folder / FILE
        if has_modelica(folder) and path.is_file():
            text = read_text(path)
            laws = read_laws(Source(text, str(path), 1))
            for name, lines in law_functions(laws, keywords=words.KEYWORDS):
                about = _about(text, name)
                head = f"{lines[0]} {words.string(about.partition(chr(10))[0])}"
                note = f"  annotation({words.html([f'<pre>{markup.escape(about)}</pre>'])});"
                found[name] = "\n".join([head, *lines[1:-1], note, lines[-1], ""])
    return found


def _about(text: str, name: str) -> str:
    """The comment above a law, and the law as it is written."""
    for paragraph in re.split(r"\n\s*\n", text):
        if re.search(rf"^function {name}\(", paragraph, re.MULTILINE):
            lines = paragraph.splitlines()
            return "\n".join(line.removeprefix("//").strip() if line.startswith("//") else line for line in lines)
    return name
