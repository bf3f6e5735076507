  Real place[3] "x, y and the angle";
equation
  for i in 1:3 loop
    place[i] = offset[i] + speed[i]*time + amplitude[i]*sin(2*acos(-1)*frequency[i]*time + phase[i]);
  end for;
  port.x = place[1];
  port.y = place[2];
  port.phi = place[3];
