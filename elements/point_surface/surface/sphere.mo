// A sphere about the origin of the frame `surface`; surface_side is 1 outside of it, -1 inside.
  Real from_centre(unit="m") "Distance of the point from the centre";
equation
  from_centre = sqrt(local*local);
  distance = surface_side*(from_centre - surface_radius);
  local_normal = surface_side*local/max(from_centre, 1e-150);
  on_drawn_part = true;
