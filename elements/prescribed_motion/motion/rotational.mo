equation
  port.phi = angle_offset + angle_speed*time + angle_amplitude*sin(2*acos(-1)*angle_frequency*time + angle_phase);
