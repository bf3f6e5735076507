// w = r_first - r_second,   l = |w|,   n = w/l,   F = k (l - l0) + d l'
//
// F > 0 pulls the points together: the force on the body at `first` is -F n, that on the body at `second` F n; there is
// no moment.  Points that coincide have no direction: n is the x axis there.  Two points that pass through each other
// reverse n, which is an event.
  import Modelica.Mechanics.MultiBody.Frames;
  Real apart[3](each unit="m") "From second to first";
  Real line[3](each unit="1") "Its direction";
  discrete Real before[3](start={1, 0, 0}, each fixed=true) "Direction at the last passage";
  Real damping(unit="N") "Part of the force";
equation
  apart = first.r_0 - second.r_0;
  length = sqrt(apart*apart);
  line = noEvent(if length > 1e-12 then apart/max(length, 1e-12) else {1, 0, 0});
  when apart*before < 0 then
    before = noEvent(if length > 1e-12 then apart/max(length, 1e-12) else -pre(before));
  end when;
  length_rate = line*(der(first.r_0) - der(second.r_0));
  damping = if work then d*length_rate else 0;
  F = damping + (if work then k*(length - l0) else 0);
  first.f = Frames.resolve2(first.R, F*line);
  first.t = zeros(3);
  second.f = -Frames.resolve2(second.R, F*line);
  second.t = zeros(3);
  energy_elastic = if work then k*(length - l0)^2/2 else 0;
  power_damping = damping*length_rate;
  der(energy_damping) = power_damping;
