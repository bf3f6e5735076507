// w = w_r - w_c,   theta' = w,   t = k theta
//
// t is the torque through the spring from the rod r to the case c: -t acts on the shaft at r, t on that at c.  In the
// form by angles theta = theta0 + phi_r - phi_c takes the place of theta' = w.   Source: Simscape, spring.ssc.
equation
  w = der(r.phi) - der(c.phi);
  t = if work then k*theta else 0;
  r.tau = t;
  c.tau = -t;
  energy_elastic = t*theta/2;
