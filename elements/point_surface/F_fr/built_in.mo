equation
  slot_F_fr = K_fr*slot_F_fr_N*smooth(0, if k_T*slot_F_fr_v < 1 then k_T*slot_F_fr_v else 1);
