"""Connectors of motion in the plane, which the Modelica Standard Library lacks."""

from __future__ import annotations

_PLANAR = """connector Planar_{side} "A point of a body in the plane, {sign}"
  Real x(unit="m") "Position along x";
  Real y(unit="m") "Position along y";
  Real phi(unit="rad", displayUnit="deg") "Angle about z";
  flow Real fx(unit="N") "Force into the component, along x";
  flow Real fy(unit="N") "Force into the component, along y";
  flow Real t(unit="N.m") "Torque into the component, about z";
  annotation(Icon(graphics={{Ellipse(extent={{{{-100,-100}},{{100,100}}}}, lineColor={{39,75,115}},
    fillPattern=FillPattern.Solid, fillColor={{{color}}})}}));
end Planar_{side};
"""

INTERFACES = {
    "Planar_a": _PLANAR.format(side="a", sign="filled", color="39,75,115"),
    "Planar_b": _PLANAR.format(side="b", sign="hollow", color="255,255,255"),
    "PlanarGround": """model PlanarGround "Holds a point of a body in the plane at the origin"
  Planar_b P
    annotation(Placement(transformation(extent={{90,-10},{110,10}})));
equation
  P.x = 0;
  P.y = 0;
  P.phi = 0;
end PlanarGround;
""",
}
