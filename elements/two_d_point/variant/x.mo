equation
  offset = {0, YP};
  p_in.s = P_out.x + place[1];
  P_out.fx = -p_in.f;
  P_out.fy = 0;
  P_out.t = p_in.f*arm[2];
