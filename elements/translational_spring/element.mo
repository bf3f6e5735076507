// v = v_r - v_c,   x' = v,   F = k x
//
// F is the force through the spring from the rod r to the case c: -F acts on the body at r, F on that at c.  In the
// form by positions x = x0 + s_r - s_c takes the place of x' = v.   Source: Hooke's law.
equation
  v = der(r.s) - der(c.s);
  F = if work then k*x else 0;
  r.f = F;
  c.f = -F;
  energy_elastic = F*x/2;
