  import Modelica.Mechanics.MultiBody.Frames;
  final parameter Real direction[3] = axis/sqrt(axis*axis) "Of the axis";
  Real angle(unit="rad") "By which the frame has turned";
  Real angular_velocity(unit="rad/s") "Its rate";
equation
  Connections.root(port.R);
  for i in 1:3 loop
    port.r_0[i] = offset[i] + speed[i]*time + amplitude[i]*sin(2*acos(-1)*frequency[i]*time + phase[i]);
  end for;
  angle = angle_offset + angle_speed*time + angle_amplitude*sin(2*acos(-1)*angle_frequency*time + angle_phase);
  angular_velocity = der(angle);
  port.R = Frames.planarRotation(direction, angle, angular_velocity);
