equation
  slot_F_slip = K_fr*slot_F_slip_N;
