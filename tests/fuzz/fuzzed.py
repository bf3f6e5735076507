"""The FMUs that the fuzz calls: of a recipe whose solver is limited, as built for users or with sanitizers."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from call_model import MOST_SUBSTEPS, Fmu
from fmi_library import Library
from sanitizer import build_sanitized

from fmu_builder.export.fmu import content_guid, host_fmu
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

# Recipes by their names, in the order of the FMUs.
RECIPES = {
    "PointMass": 'element = "point_mass"\n',
    "PointSurface": """\
element = "point_surface"

[surface]
kind = "plane"

[structure]
coupling = false

[start]
C_F = "1e5 N/m"
C_r = 0.5
K_fr = 0.3
""",
    "Ball": """\
connections = [["ball.p", "floor.point"]]

[parts]
ball = "PointMass"
floor = "PointSurface"

[expose]
outputs = { height = "ball.p.r[3]", push = "ball.p.f" }
inputs = { base = "floor.surface.r" }
""",
    "ThreePoints": """\
element = "point_surface"

[surface]
kind = "plane"
x = ["-1 m", "1 m"]
y = ["-1 m", "1 m"]

[structure]
points = 3
coupling = false

[start]
C_F = "1e5 N/m"
C_r = 0.3
K_fr = 0.4
""",
}

# Recipes of the catalogue that the sanitizers see besides: every kind of memory and of event there is.
CATALOGUE = (
    "CamChainLiftOff",
    "EccentricCam",
    "GuideRail",
    "ImpactDamper",
    "Pendulum",
    "PointDisc",
    "PrescribedMotion",
    "RigidBlock",
    "TwoPointSurface",
    "TwoDPointXY",
)


def write_recipe(folder: Path, name: str, text: str) -> Path:
    """The recipe, its solver limited so that no step takes seconds."""
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    if "solver.max_substeps" in {v.name for v in load_model(path).variables}:
        before, _, behind = text.partition("[start]\n")
        limited = f'[start]\n"solver.max_substeps" = {MOST_SUBSTEPS}\n'
        path.write_text(before + limited + behind, encoding="utf-8")
    return path


def shipped_recipe(folder: Path, name: str) -> Path:
    """A recipe of the catalogue, as by `write_recipe`, with the meshes that it may name beside it."""
    shutil.copytree(shipped("fmus") / "meshes", folder / "meshes", dirs_exist_ok=True)
    return write_recipe(folder, name, (shipped("fmus") / f"{name}.toml").read_text(encoding="utf-8"))


def built_fmu(recipe: Path, folder: Path) -> Fmu:
    """The FMU as users get it, for this machine."""
    model = load_model(recipe)
    platform = host_platform()
    library = folder / f"{model.name}{PLATFORMS[platform].suffix}"
    with zipfile.ZipFile(host_fmu(recipe)) as archive:
        library.write_bytes(archive.read(f"binaries/{platform}/{library.name}"))
    return Fmu(Library(library), model, content_guid(model))


def sanitized_fmu(recipe: Path) -> Fmu:
    model = load_model(recipe)
    return Fmu(Library(build_sanitized(model)), model, content_guid(model))
