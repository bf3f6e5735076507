// w = w_r - w_c,   t = d w
//
// t is the torque through the damper from the rod r to the case c: -t acts on the shaft at r, t on that at c.
// Source: Newton's law of viscous friction.
equation
  w = der(r.phi) - der(c.phi);
  t = if work then d*w else 0;
  r.tau = t;
  c.tau = -t;
  power_damping = t*w;
  der(energy_damping) = power_damping;
