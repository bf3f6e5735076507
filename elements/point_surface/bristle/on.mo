// The bristle: force k_B z + c_B z', held up to the limit of the law F_slip, in the axes of the surface's frame.
  Real bent[3](each unit="m") "Deflection z";
  Real local_slip[3](each unit="m/s") "The slip";
  Real held[3](each unit="N") "Force with which the tip sticks";
  Real held_size(unit="N") "Its size";
  Real limit(unit="N") "Of the force";
  Real rest(unit="m") "Part of z along the normal, without force";
  Boolean tip_slips "true while the tip slips";
  Real share(unit="1") "Of the force that holds";
  Real rate[3](each unit="m/s") "Of the deflection";
  Real way[size(deflection, 1)](each unit="m") "Of the tip relative to the point, in all contacts together";
  discrete Real relaxed[size(deflection, 1)](each unit="m", each start=0, each fixed=true) "It at the last release";
equation
  bent = cat(1, deflection, zeros(3 - size(deflection, 1)));
  local_slip = Frames.resolve2(surface.R, slip);
  rest = bent*local_normal;
  held = k_B*(bent - rest*local_normal) + c_B*local_slip;
  held_size = sqrt(held*held);
  slot_F_slip_N = max(normal_force, 0);
  slot_F_slip_v = slip_speed;
  limit = if in_contact then slot_F_slip else 0;
  tip_slips = in_contact and held_size > limit;
  stick = in_contact and not tip_slips;
  share = if tip_slips then limit/max(held_size, 1e-150) else if in_contact then 1 else 0;
  friction_force = share*held_size;
  tangential_force = Frames.resolve1(surface.R, share*held);
  for i in 1:3 loop
    rate[i] = if tip_slips then (share*held[i] - k_B*bent[i])/c_B else if in_contact then
      local_slip[i] - k_B/c_B*rest*local_normal[i] else 0;
  end for;
  deflection = way - relaxed;
  der(way) = rate[1:size(way, 1)];
  when not in_contact then
    relaxed = way;
  end when;
