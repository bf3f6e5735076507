// v = v_r - v_c,   F = d v
//
// F is the force through the damper from the rod r to the case c: -F acts on the body at r, F on that at c.
// Source: Newton's law of viscous friction.
equation
  v = der(r.s) - der(c.s);
  F = if work then d*v else 0;
  r.f = F;
  c.f = -F;
  power_damping = F*v;
  der(energy_damping) = power_damping;
