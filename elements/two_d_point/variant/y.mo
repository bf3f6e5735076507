equation
  offset = {XP, 0};
  p_in.s = P_out.y + place[2];
  P_out.fx = 0;
  P_out.fy = -p_in.f;
  P_out.t = -p_in.f*arm[1];
