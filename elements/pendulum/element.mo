// J phi'' = t - k (phi - phi_free) - d w + n (c x m g + p x f + t_p),   w = phi'
//
// n is the direction of the axis, c the centre of mass and p the tip, from the pivot; t acts at the hinge, f and t_p at
// the tip.  The tip has the axes of the body, which are those of the world at phi = 0.
  import Modelica.Mechanics.MultiBody.Frames;
  final parameter Real n[3] = axis/sqrt(axis*axis) "Direction of the axis";
  Real c[3](each unit="m") "Centre of mass from the pivot, in the axes of the world";
  Real p[3](each unit="m") "Tip from the pivot, in the axes of the world";
  Real moment[3](each unit="N.m") "Of weight and tip about the pivot";
  final parameter Real out[3](each unit="m") = center - n*(n*center) "From the axis to the centre of mass";
equation
  assert(J >= m*(out*out)*(1 - 1e-6), "J must be at least m times the square of the distance from centre to axis");
  Connections.root(tip.R);
  hinge_phi = hinge.phi;
  der(hinge_phi) = hinge_w;
  tip.R = Frames.planarRotation(n, hinge_phi, hinge_w);
  c = n*(n*center) + out*cos(hinge_phi) + cross(n, center)*sin(hinge_phi);
  p = n*(n*tip_offset) + (tip_offset - n*(n*tip_offset))*cos(hinge_phi) + cross(n, tip_offset)*sin(hinge_phi);
  tip.r_0 = pivot + p;
  moment = cross(c, m*g) + cross(p, Frames.resolve1(tip.R, tip.f)) + Frames.resolve1(tip.R, tip.t);
  J*der(hinge_w) = hinge.tau - k*(hinge_phi - phi_free) - d*hinge_w + n*moment;
  power_damping = d*hinge_w^2;
  der(energy_damping) = power_damping;
