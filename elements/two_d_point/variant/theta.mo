equation
  offset = zeros(2);
  p_in.phi = P_out.phi;
  P_out.fx = 0;
  P_out.fy = 0;
  P_out.t = -p_in.tau;
