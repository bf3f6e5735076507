"""The files of an FMU that slaves load, in a temporary folder."""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from pathlib import Path
from typing import ClassVar

from fmpy.fmi2 import FMU2Slave

from fmu_builder.export.archive import unpack


class Extraction:
    """The files of an FMU, until the last slave that loads them is closed.

    FMUs of fmu-builder have no memory beside their instances, so all slaves of one share a folder and a library: 1,000
    copies of its code would fill the caches of the processor.  Others get a copy for each slave.

    loaded   the library with its functions, which fmpy takes some milliseconds to find
    lock     held while files are unpacked, loaded or removed: slaves of several threads share them, and fmpy changes
             the working directory while it loads"""

    lock: ClassVar = threading.RLock()

    _shared: ClassVar[dict[tuple[Path, str], Extraction]] = {}

    def __init__(self, key: tuple[Path, str] | None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fmu-builder-"))
        self.loaded: FMU2Slave | None = None
        self._key, self._users, self._unloads = key, 0, True
        # of slaves that are never closed: at the latest when Python ends
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @classmethod
    def of(cls, path: Path, libraries: str, guid: str | None) -> Extraction:
        """Of an FMU, with its resources and the folder `libraries`.   guid: of one that slaves may share, else None

        Raises ToolError if the FMU cannot be unpacked."""
        key = None if guid is None else (path, guid)
        with cls.lock:
            extraction = cls._shared[key] if key in cls._shared else cls(key)
            extraction._users += 1
            if extraction._users == 1:
                if key is not None:
                    cls._shared[key] = extraction
                try:
                    unpack(path, extraction.folder, ("resources/", f"{libraries}/"))
                except BaseException:
                    extraction.close()
                    raise
            return extraction

    def close(self, free: bool = True) -> None:
        """For each call of `of`.   free: false if the library may not be unloaded, as an instance is left in it"""
        with self.lock:
            self._users -= 1
            self._unloads = self._unloads and free
            if self._users == 0:
                if self._key is not None:
                    del self._shared[self._key]
                if self.loaded is not None and self._unloads:
                    self.loaded.freeLibrary()
                self._remove()
