"""The recorder's library, compiled once for each platform and kept in the cache."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fmu_builder.export import toolchain
from fmu_builder.export.binaries import merge_universal
from fmu_builder.export.cache import cache_folder, made_once, used
from fmu_builder.export.toolchain import FREESTANDING, PLATFORMS, Compiler, compile_hosted, fmi_headers, run_compiler
from fmu_builder.paths import shipped

# All that a library takes of Linux (system.h).  It is linked to empty libraries of these names: those of a C library
# would take seconds to make, and bring versions of their symbols along.
LINUX_IMPORTS = {
    "libc.so.6": (
        *(
            "clock_gettime",
            "close",
            "ftruncate",
            "getcwd",
            "getenv",
            "getpid",
            "lseek",
            "mmap",
            "munmap",
            "open",
            "pread",
        ),
        *("pthread_self", "pwrite", "sched_yield"),
    ),
    "libdl.so.2": ("dladdr", "dlclose", "dlerror", "dlopen", "dlsym"),
}
_HERE = Path(__file__).parent
_UNIVERSAL = {"x86_64": "darwin64", "aarch64": "aarch64-darwin"}  # platforms whose first target is of the machine


def recorder_library(platform: str, compiler: Compiler) -> bytes:
    """Raises ToolError with the compiler's messages."""
    content = _content(platform, compiler)
    folder = used(cache_folder() / "host" / f"recorder-{content}")

    def make(library: Path) -> None:
        library.write_bytes(_compiled(platform, compiler, library.parent))

    return made_once(folder / f"recorder{PLATFORMS[platform].suffix}", make).read_bytes()


def _compiled(platform: str, compiler: Compiler, folder: Path) -> bytes:
    slices = _UNIVERSAL if platform == "darwin64" and compiler.cross else {"": platform}
    libraries = {}
    for machine, one in slices.items():
        library = folder / f"{one}{PLATFORMS[one].suffix}"
        base = shipped("contact_core") / "base"
        include = [base, base / "freestanding_include"]
        system = [*_options(one), "-isystem", str(fmi_headers())]
        sources = [_HERE / "recorder.c", *_empty_libraries(one, compiler, folder)]  # in this order, for GNU ld
        compile_hosted(sources, library, include, compiler, ["-s", *FREESTANDING, *system], one)
        libraries[machine] = library.read_bytes()
    return merge_universal(libraries) if len(libraries) > 1 else next(iter(libraries.values()))


def _options(platform: str) -> list[str]:
    if platform == "win64":
        return ["-lkernel32"]
    if "linux" in platform:
        atomics = ["-mno-outline-atomics"] if platform == "aarch64-linux" else []
        return ["-Wl,-z,defs", *atomics]
    return ["-Wl,-install_name,@rpath/recorder.dylib", "-Wl,-headerpad,40", "-fno-unwind-tables"]


def _empty_libraries(platform: str, compiler: Compiler, folder: Path) -> list[Path]:
    """Libraries to link to that define the imports, and nothing else."""
    made = []
    for name, imports in LINUX_IMPORTS.items() if "linux" in platform else ():
        source = folder / f"{name}.c"
        source.write_text("".join(f"void {one}(void);\nvoid {one}(void) {{}}\n" for one in imports))
        target = next(iter(PLATFORMS[platform].targets.values()))
        flags = [*(("-target", target) if compiler.cross else ()), *FREESTANDING, "-fPIC", "-O1", "-w", "-shared"]
        run_compiler(compiler, [*flags, f"-Wl,-soname,{name}", str(source), "-o", str(folder / name)])
        made.append(folder / name)
    return made


def _content(platform: str, compiler: Compiler) -> str:
    """A name that changes with the sources, the flags and the compiler."""
    sources = [*sorted(_HERE.glob("*.[ch]")), shipped("contact_core") / "base" / "freestanding.c"]
    digest = hashlib.sha256(repr((platform, compiler.command, compiler.version)).encode())
    for path in (*sources, Path(toolchain.__file__), Path(__file__)):
        data = path.read_bytes()
        digest.update(f"{path.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:32]
