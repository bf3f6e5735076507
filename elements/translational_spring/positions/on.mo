equation
  x = x0 + (r.s - c.s);
