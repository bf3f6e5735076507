"""The calls of EULER write recipes that load, with what was given where it belongs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fmu_builder.errors import InputError
from fmu_builder.euler import Law, Point, Sensor, Surface, contactPS, forcePointLine1, forcePointLine2
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import ElementModel
from fmu_builder.model.recipe import read_recipe

TROLLEY = Point("trolley", (0, 0, 0))
RAIL = [Point("frame", (0.1 * i, 0.0, 0.0)) for i in range(5)]


def model_of(path: Path) -> ElementModel:
    model = load_model(path)
    assert isinstance(model, ElementModel)
    return model


def test_force_point_line_2_takes_laws_sensors_and_scalars(tmp_path: Path) -> None:
    path = forcePointLine2(
        TROLLEY,
        RAIL,
        (0, 1, 0),
        "side(#delta, #width)",
        (0, 0, 1),
        "2e5[N/m]*#delta",
        [Sensor("width", "m", "2 mm")],
        recipe=tmp_path / "Guide.toml",
        forceZone="20 mm",
        K_fr=0.2,
        normDamp="30 N.s/m",
        work=False,
        color="#c04020",
        visible=False,
        functions='// a "quoted" word\nfunction side(d[m], w[m]) = #d > #w -> 1e6[N/m]*(#d - #w), 0;',
    )
    model = model_of(path)
    assert (model["K_fr"].start, model["normDamp"].start, model["forceZone"].start) == (0.2, 30.0, 0.02)
    assert model["work"].start == 0.0
    assert (model["sensor.width"].unit.name, model["sensor.width"].start) == ("m", 2e-3)
    assert [v.start for v in model.visible_names["VectorFr2"]] == [0.0, 0.0, 1.0]
    assert "k_r1" not in model
    assert model.recipe.sizes["points"] == 5
    text = path.read_text(encoding="utf-8")
    assert 'color = "#c04020"' in text and "visible = false" in text


def test_bodies_of_the_line_are_numbered_as_they_come(tmp_path: Path) -> None:
    points = [Point(b, (0.1 * i, 0, 0)) for i, b in enumerate(["b", "b", "a", "a", "b"])]
    law = "1e5[N/m]*#delta"
    path = forcePointLine2(
        TROLLEY, points, (0, 1, 0), law, (0, 0, 1), law, recipe=tmp_path / "Two.toml",
        F_fr2="0.1*abs(#P1)*tanh(#v/1[mm/s])", normDamp=Law("5[N*s/m]*#v"), interpolation="spline",
    )  # fmt: skip
    recipe = read_recipe(path)
    (bodies,) = (c.values for c in recipe.constants if c.name == "line_bodies")
    assert list(map(float, bodies)) == [0, 0, 1, 1, 0]
    assert recipe.choices["interpolation"] == "spline"
    assert all(recipe.choices[slot] for slot in ("f_r1", "f_r2", "F_fr2", "normDamp"))


def test_all_faults_of_a_call_at_once(tmp_path: Path) -> None:
    points = [RAIL[0], Point("trolley", (0.1, 0, 0)), Point("trolley", (0.2, 0, 0))]
    with pytest.raises(InputError) as caught:
        forcePointLine2(
            TROLLEY, points, (0, 1, 0), "#delta", (0, 0, 1), "#delta", recipe=tmp_path / "No.toml",
            K_fr=0.1, F_fr2="#P1", forceZone=0,
        )  # fmt: skip
    found = {p.where: p.what for p in caught.value.problems}
    assert set(found) == {"PL[1]", "PL[2]", "F_fr2", "forceZone"}
    assert "point 2 of the line lies on 'trolley', the body of the point" in found["PL[1]"]
    assert "0 must be greater than 0" in found["forceZone"]
    assert not (tmp_path / "No.toml").exists()


def test_force_point_line_1_takes_one_law(tmp_path: Path) -> None:
    path = forcePointLine1(
        TROLLEY, RAIL, "1e6[N/m]*max(#delta - #play, 0[m])", [Sensor("play", "m", "1 mm")],
        recipe=tmp_path / "Bar.toml", F_fr="0.1*#P*tanh(#v/1[mm/s])", normDamp=20.0, forceZone="30 mm",
    )  # fmt: skip
    model = model_of(path)
    assert model.element_name == "point_line_1"
    assert (model["normDamp"].start, model["forceZone"].start, model["sensor.play"].start) == (20.0, 0.03, 1e-3)
    assert "K_fr" not in model and "VectorFr1[1]" not in model
    with pytest.raises(InputError) as caught:
        forcePointLine1(TROLLEY, [Point("trolley", (0, 0, 0))], "0", recipe=path, K_fr=1, F_fr="#P")
    assert {p.where for p in caught.value.problems} == {"PL[0]", "PL", "F_fr"}


def test_contact_ps_takes_scalars_or_laws(tmp_path: Path) -> None:
    floor = Surface("ground", "plane", {"x": ["-1 m", "1 m"]})
    model = model_of(contactPS(TROLLEY, floor, "1e5 N/m", recipe=tmp_path / "Floor.toml", K_fr=0.3, C_r=0.5, D_max=0.1))
    assert [model[name].start for name in ("C_F", "K_fr", "C_r", "D_max")] == [1e5, 0.3, 0.5, 0.1]
    soft = Law("1e5[N/m]*#h + 1e9[N/m^2]*#h^2")
    laws = model_of(
        contactPS(
            TROLLEY, floor, soft, recipe=tmp_path / "Soft.toml", F_fr="0.2*#N*tanh(#v/1[mm/s])", F_d="0[-]*#v/1[m/s]"
        )
    )
    assert not {"C_F", "K_fr", "C_r"} & laws.visible_names.keys()
    with pytest.raises(InputError) as caught:
        contactPS(
            TROLLEY, Surface("trolley", "plane"), 1e5, recipe=tmp_path / "No.toml", K_fr=0.1, F_fr="#N", C_r=1, F_d="0"
        )
    assert {p.where for p in caught.value.problems} == {"F_fr", "F_d", "Surface"}


def test_a_place_on_the_body_of_the_point_is_refused_and_not_dropped(tmp_path: Path) -> None:
    """A recipe has nowhere to put it: the port that is connected decides where the point lies."""
    away = Point("ball", (0.0, 0.0, -0.1))
    with pytest.raises(
        InputError, match=r"Point: r = \(0\.0, 0\.0, -0\.1\) m on 'ball' cannot be given in this recipe"
    ):
        contactPS(away, Surface("ground", "plane"), "1e5 N/m", recipe=tmp_path / "Floor.toml")
    with pytest.raises(InputError, match=r"connect a port of the body at r, such as attach\[i\] of a rigid_body"):
        forcePointLine2(away, RAIL, (0, 1, 0), "#delta", (0, 0, 1), "#delta", recipe=tmp_path / "Guide.toml")
    assert list(tmp_path.iterdir()) == []
