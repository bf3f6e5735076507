  final parameter Real loss = 1 - C_r^2 "Of the energy, in a fast impact";
  final parameter Real d_comp = loss*k_E/(1 - loss*k_E) "Limit of the damping ratio in compression";
  final parameter Real d_rest = -loss*(1 - k_E)/(1 - loss*k_E) "Limit of the damping ratio in restitution";
equation
  slot_F_d = smooth(0, if k_D*slot_F_d_v > d_comp then d_comp else if k_D*slot_F_d_v < d_rest then d_rest else
    k_D*slot_F_d_v);
