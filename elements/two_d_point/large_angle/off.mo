equation
  arm = offset;
  place[1] = offset[1] - P_out.phi*offset[2];
  place[2] = offset[2] + P_out.phi*offset[1];
