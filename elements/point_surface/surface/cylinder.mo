// A cylinder about the z axis of the frame `surface`; surface_side is 1 outside of it, -1 inside.
  Real from_axis(unit="m") "Distance of the point from the axis";
equation
  from_axis = sqrt(local[1]^2 + local[2]^2);
  distance = surface_side*(from_axis - surface_radius);
  local_normal = surface_side*{local[1], local[2], 0}/max(from_axis, 1e-150);
  on_drawn_part = local[3] >= surface_z[1] and local[3] <= surface_z[2];
