// A cone about the z axis of the frame `surface`, which opens to +z from its apex at the origin; surface_angle holds
// cosine and sine of its half angle, surface_side is 1 outside of it, -1 inside.  Behind the apex the apex is closest.
  Real from_axis(unit="m") "Distance of the point from the axis";
  Real from_apex(unit="m") "Distance of the point from the apex";
  Real along(unit="m") "From the apex to the closest point of the flank, negative behind the apex";
  Real to_flank[3](each unit="1") "Normal of the flank, out of the cone";
equation
  from_axis = sqrt(local[1]^2 + local[2]^2);
  from_apex = sqrt(local*local);
  along = from_axis*surface_angle[2] + local[3]*surface_angle[1];
  to_flank = {local[1]*surface_angle[1]/max(from_axis, 1e-150), local[2]*surface_angle[1]/max(from_axis, 1e-150),
    -surface_angle[2]};
  distance = smooth(0, if along > 0 then surface_side*(from_axis*surface_angle[1] - local[3]*surface_angle[2]) else
    surface_side*from_apex);
  for i in 1:3 loop
    local_normal[i] = smooth(0, if along > 0 then surface_side*to_flank[i] else
      surface_side*local[i]/max(from_apex, 1e-150));
  end for;
  on_drawn_part = max(along, 0)*surface_angle[1] >= surface_z[1] and max(along, 0)*surface_angle[1] <= surface_z[2];
