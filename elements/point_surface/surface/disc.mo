// The plane z = 0 of the frame `surface`, drawn up to a radius.
equation
  distance = local[3];
  local_normal = {0, 0, 1};
  on_drawn_part = local[1]^2 + local[2]^2 <= surface_radius^2;
