"""Objects that are compiled once and kept, by a hash of all that goes into them."""

from __future__ import annotations

import hashlib
import posixpath
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from fmu_builder.export.cache import cache_folder, used

_INCLUDE = re.compile(rb'^\s*#\s*(?:include|define\s+\w+)\s*"([^"]+\.[ch])"', re.MULTILINE)


def included(folder: Path, name: str) -> dict[str, bytes]:
    """Name -> content of this file and of those in the folder that it includes: beside the file that does, else from
    the top.  Conditions are not evaluated, and a name that a macro stands for counts as included."""
    found: dict[str, bytes] = {}
    wanted = [name]
    while wanted:
        name = wanted.pop()
        if name not in found and (folder / name).is_file():
            found[name] = (folder / name).read_bytes()
            for other in map(bytes.decode, _INCLUDE.findall(found[name])):
                wanted += [posixpath.normpath(posixpath.join(posixpath.dirname(name), other)), other]
    return found


def kept_object(
    name: str, settings: object, sources: Mapping[str, bytes], folder: Path, make: Callable[[Path], object]
) -> Path:
    """The object of these sources in the cache, made if it is not there yet.

    settings   what else it depends on, as its repr shows it
    folder     where it lies if the cache cannot be written to
    make       compiles it to the path that is given"""
    digest = hashlib.sha256(repr(settings).encode())
    for one, content in sorted(sources.items()):
        digest.update(b"\0%s\0%d\0" % (one.encode(), len(content)) + content)
    kept = used(cache_folder() / "host" / f"{name}-{digest.hexdigest()[:32]}.o")
    if kept.is_file():
        return kept
    made = folder / f"{name}.o"
    make(made)
    with suppress(OSError):  # the cache is full, or Windows holds what another process has put there
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix="object-") as beside:
            shutil.copyfile(made, Path(beside) / kept.name).replace(kept)
    return made
