// phi' = w,   J w' = t
//
// The torque of the flange is the sum t of all torques on the inertia.
equation
  p_phi = p.phi;
  der(p_phi) = p_w;
  J*der(p_w) = p.tau;
  energy_kinetic = J*p_w^2/2;
