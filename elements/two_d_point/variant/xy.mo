equation
  offset = {XP, YP};
  p_in.s = cos(theta)*(P_out.x + place[1]) + sin(theta)*(P_out.y + place[2]);
  P_out.fx = -cos(theta)*p_in.f;
  P_out.fy = -sin(theta)*p_in.f;
  P_out.t = -(arm[1]*sin(theta) - arm[2]*cos(theta))*p_in.f;
