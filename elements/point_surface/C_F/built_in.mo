equation
  slot_C_F = C_F*slot_C_F_h;
