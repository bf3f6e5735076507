// r' = v,   m v' = f + m g
//
// The force of the frame, turned into the axes of the world, is the sum f of all forces on the particle.  A particle
// has no orientation: its frame has the axes of the world, unless a frame that it is connected with has other ones.
// Gravity is that of the parameter g; that of a World acts on the bodies of Modelica.Mechanics.MultiBody alone.
  import Modelica.Mechanics.MultiBody.Frames;
equation
  Connections.potentialRoot(p.R, 10000);
  if Connections.isRoot(p.R) then
    p.R = Frames.nullRotation();
  else
    p.t = zeros(3);
  end if;
  p_r = p.r_0;
  der(p_r) = p_v;
  m*der(p_v) = Frames.resolve1(p.R, p.f) + m*g;
  energy_kinetic = m*(p_v*p_v)/2;
  energy_potential = -m*(g*p_r);
