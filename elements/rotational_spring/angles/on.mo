equation
  theta = theta0 + (r.phi - c.phi);
