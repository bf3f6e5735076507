// A point of a body in the plane, at `offset` from its centre of mass: p_in.v = B v,   P_out.F = B^T F
//
//     x        B = (1, 0, -arm[2])
//     y        B = (0, 1, arm[1])
//     theta    B = (0, 0, 1)
//     xy       B = (cos th, sin th, arm[1] sin th - arm[2] cos th)
//
// v are the velocities of the body, F the force, or the torque, of p_in.  `arm` is the offset in the axes of the world:
// that of the body that has not turned or, with large_angle, the turned one.  The flange moves as the point does along
// its line, to first order of the angle without large_angle.   Source: 20-sim, TwoDPoint.
  Real offset[2](each unit="m") "From the centre of mass to the point, in the axes of the body";
  Real arm[2](each unit="m") "Of the force, in the axes of the world";
  Real place[2](each unit="m") "From the centre of mass to the point, in the axes of the world";
