equation
  der(x) = v;
