// A tube about a circle in the plane z = 0 of the frame `surface`, with the radius of the circle and that of the tube in
// surface_radius; surface_side is 1 outside of it, -1 inside.
  Real from_axis(unit="m") "Distance of the point from the axis";
  Real from_circle(unit="m") "Distance of the point from the circle";
equation
  from_axis = sqrt(local[1]^2 + local[2]^2);
  from_circle = sqrt((from_axis - surface_radius[1])^2 + local[3]^2);
  distance = surface_side*(from_circle - surface_radius[2]);
  local_normal = surface_side*{local[1]*(1 - surface_radius[1]/max(from_axis, 1e-150)),
    local[2]*(1 - surface_radius[1]/max(from_axis, 1e-150)), local[3]}/max(from_circle, 1e-150);
  on_drawn_part = true;
