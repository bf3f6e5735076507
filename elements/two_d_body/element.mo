// x' = v_x,  y' = v_y,  theta' = omega
// m v_x' = sum F_x + m g[1],   m v_y' = sum F_y + m g[2],   J omega' = sum T
//
// P lies at the centre of mass; it takes any number of connections, whose forces add up.
equation
  x = P.x;
  y = P.y;
  theta = P.phi;
  der(x) = v_x;
  der(y) = v_y;
  der(theta) = omega;
  m*der(v_x) = P.fx + m*g[1];
  m*der(v_y) = P.fy + m*g[2];
  J*der(omega) = P.t;
  energy_kinetic = (m*(v_x^2 + v_y^2) + J*omega^2)/2;
  energy_potential = -m*(g[1]*x + g[2]*y);
