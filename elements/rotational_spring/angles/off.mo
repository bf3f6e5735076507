equation
  der(theta) = w;
