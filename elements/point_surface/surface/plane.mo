// The plane z = 0 of the frame `surface`.
equation
  distance = local[3];
  local_normal = {0, 0, 1};
  on_drawn_part = local[1] >= surface_x[1] and local[1] <= surface_x[2] and local[2] >= surface_y[1] and
    local[2] <= surface_y[2];
