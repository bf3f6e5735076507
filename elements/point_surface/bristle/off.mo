equation
  slot_F_fr_N = max(normal_force, 0);
  slot_F_fr_v = slip_speed;
  friction_force = if in_contact then slot_F_fr else 0;
  tangential_force = friction_force*slip/max(slip_speed, slowest);
