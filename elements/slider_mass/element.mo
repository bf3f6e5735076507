// s' = v,   m v' = F
//
// The force of the flange is the sum F of all forces on the mass.
equation
  p_s = p.s;
  der(p_s) = p_v;
  m*der(p_v) = p.f;
  energy_kinetic = m*p_v^2/2;
