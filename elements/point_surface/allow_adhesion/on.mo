equation
  factor = 1 + slot_F_d;
