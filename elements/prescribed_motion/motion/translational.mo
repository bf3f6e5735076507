equation
  port.s = offset + speed*time + amplitude*sin(2*acos(-1)*frequency*time + phase);
