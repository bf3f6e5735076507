// A point meets a surface on another body, in the frame `surface`.   Source: EULER, contactPS.
//
//     contact   on the drawn part, 0 < h <= D_max, work         h = -distance, the depth
//     v         velocity of the point relative to the material there
//     w         = -v n, the depth rate, with the outward normal n
//     N         = F_e(h) (1 + d(w))                             normal force
//     force     = N n - F_fr(N, |v_t|) v_t/|v_t|                on the point, with the slip v_t = v + w n
//
// -force acts on the body of the surface, at the point.  F_e, d and F_fr are the laws in the slots C_F, F_d and F_fr.
  import Modelica.Mechanics.MultiBody.Frames;
  Real arm[3](each unit="m") "From the origin of the surface's frame to the point, in the axes of the world";
  Real local[3](each unit="m") "The same in the axes of the surface's frame";
  Real local_normal[3](each unit="1") "Outward normal in the axes of the surface's frame";
  Boolean on_drawn_part "true where the closest point belongs to the drawn part";
  Real velocity[3](each unit="m/s") "Of the point relative to the material";
  Real slip[3](each unit="m/s") "Its part along the surface";
  Real factor(unit="1") "1 + d, of the elastic force";
  Real tangential_force[3](each unit="N") "Against the slip";
  Real force[3](each unit="N") "On the point";
  constant Real slowest(unit="m/s") = 1e-150 "A smaller slip has no direction";
equation
  arm = point.r_0 - surface.r_0;
  local = Frames.resolve2(surface.R, arm);
  normal = Frames.resolve1(surface.R, local_normal);
  in_contact = work and on_drawn_part and distance < 0 and distance >= -D_max;
  depth = if in_contact then -distance else 0;
  velocity = der(point.r_0) - der(surface.r_0) - cross(Frames.resolve1(surface.R, surface.R.w), arm);
  depth_rate = -velocity*normal;
  slip = velocity + depth_rate*normal;
  slip_speed = sqrt(slip*slip);
  slot_C_F_h = max(-distance, 0);
  slot_F_d_v = depth_rate;
  elastic_force = if in_contact then slot_C_F else 0;
  normal_force = elastic_force*factor;
  damping_force = normal_force - elastic_force;
  force = normal_force*normal - tangential_force;
  point.f = -Frames.resolve2(point.R, force);
  point.t = zeros(3);
  surface.f = Frames.resolve2(surface.R, force);
  surface.t = Frames.resolve2(surface.R, cross(arm, force));
  der(impulse) = normal_force;
  when {initial(), in_contact} then
    contact_count = pre(contact_count) + (if in_contact then 1 else 0);
  end when;
