"""What the Modelica Standard Library lacks: connectors of motion in the plane, and frames that stand still anywhere."""

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
    "FixedFrame": """model FixedFrame "A frame that stands still"
  import Modelica.Mechanics.MultiBody.Frames;
  parameter Real r[3](each unit="m") = {0, 0, 0} "Position";
  parameter Real q[4] = {1, 0, 0, 0} "Orientation, a quaternion from the frame to the world, scalar first";
  Modelica.Mechanics.MultiBody.Interfaces.Frame_b frame_b
    annotation(Placement(transformation(extent={{90,-10},{110,10}})));
equation
  Connections.root(frame_b.R);
  frame_b.r_0 = r;
  frame_b.R = Frames.Orientation(
    T={{1 - 2*(q[3]^2 + q[4]^2), 2*(q[2]*q[3] + q[1]*q[4]), 2*(q[2]*q[4] - q[1]*q[3])},
      {2*(q[2]*q[3] - q[1]*q[4]), 1 - 2*(q[2]^2 + q[4]^2), 2*(q[3]*q[4] + q[1]*q[2])},
      {2*(q[2]*q[4] + q[1]*q[3]), 2*(q[3]*q[4] - q[1]*q[2]), 1 - 2*(q[2]^2 + q[3]^2)}},
    w=zeros(3));
end FixedFrame;
""",
}
