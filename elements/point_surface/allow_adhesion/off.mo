equation
  factor = smooth(0, if slot_F_d > -1 then 1 + slot_F_d else 0);
