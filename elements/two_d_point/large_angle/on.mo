equation
  arm = place;
  place[1] = cos(P_out.phi)*offset[1] - sin(P_out.phi)*offset[2];
  place[2] = sin(P_out.phi)*offset[1] + cos(P_out.phi)*offset[2];
