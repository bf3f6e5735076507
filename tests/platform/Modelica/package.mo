within ;
package Modelica "Stand-ins for classes of the Modelica Standard Library: the names and equations that connectors need"
  package Icons
    partial model Example
    end Example;
  end Icons;

  package Mechanics
    package Translational
      package Interfaces
        connector Flange_a
          Real s(unit="m");
          flow Real f(unit="N");
        end Flange_a;

        connector Flange_b
          Real s(unit="m");
          flow Real f(unit="N");
        end Flange_b;
      end Interfaces;

      package Components
        model Fixed
          parameter Real s0(unit="m") = 0;
          Interfaces.Flange_b flange;
        equation
          flange.s = s0;
        end Fixed;
      end Components;

      package Sources
        model ConstantForce
          parameter Real f_constant(unit="N");
          Interfaces.Flange_b flange;
        equation
          flange.f = -f_constant;
        end ConstantForce;
      end Sources;
    end Translational;

    package Rotational
      package Interfaces
        connector Flange_a
          Real phi(unit="rad");
          flow Real tau(unit="N.m");
        end Flange_a;

        connector Flange_b
          Real phi(unit="rad");
          flow Real tau(unit="N.m");
        end Flange_b;
      end Interfaces;

      package Components
        model Fixed
          parameter Real phi0(unit="rad") = 0;
          Interfaces.Flange_b flange;
        equation
          flange.phi = phi0;
        end Fixed;
      end Components;

      package Sources
        model ConstantTorque
          parameter Real tau_constant(unit="N.m");
          Interfaces.Flange_b flange;
        equation
          flange.tau = -tau_constant;
        end ConstantTorque;
      end Sources;
    end Rotational;

    package MultiBody
      package Frames
        record Orientation
          Real T[3, 3];
          Real w[3](each unit="rad/s");

          encapsulated function equalityConstraint
            import Modelica.Mechanics.MultiBody.Frames.Orientation;
            input Orientation R1;
            input Orientation R2;
            output Real residue[3];
          algorithm
            residue := {R1.T[1, :]*R2.T[2, :], R1.T[2, :]*R2.T[3, :], R1.T[3, :]*R2.T[1, :]};
          end equalityConstraint;
        end Orientation;

        function nullRotation
          output Orientation R;
        algorithm
          R := Orientation(T=identity(3), w=zeros(3));
          annotation(Inline=true);
        end nullRotation;

        function planarRotation
          input Real e[3];
          input Real angle;
          input Real der_angle;
          output Orientation R;
        protected
          Real c = cos(angle);
          Real s = sin(angle);
        algorithm
          R := Orientation(
            T={{c + (1 - c)*e[1]^2, (1 - c)*e[1]*e[2] + s*e[3], (1 - c)*e[1]*e[3] - s*e[2]},
              {(1 - c)*e[2]*e[1] - s*e[3], c + (1 - c)*e[2]^2, (1 - c)*e[2]*e[3] + s*e[1]},
              {(1 - c)*e[3]*e[1] + s*e[2], (1 - c)*e[3]*e[2] - s*e[1], c + (1 - c)*e[3]^2}},
            w=der_angle*e);
          annotation(Inline=true);
        end planarRotation;

        function resolve1
          input Orientation R;
          input Real v2[3];
          output Real v1[3];
        algorithm
          v1 := transpose(R.T)*v2;
          annotation(Inline=true);
        end resolve1;

        function resolve2
          input Orientation R;
          input Real v1[3];
          output Real v2[3];
        algorithm
          v2 := R.T*v1;
          annotation(Inline=true);
        end resolve2;
      end Frames;

      package Interfaces
        connector Frame_a
          Real r_0[3](each unit="m");
          Frames.Orientation R;
          flow Real f[3](each unit="N");
          flow Real t[3](each unit="N.m");
        end Frame_a;

        connector Frame_b
          Real r_0[3](each unit="m");
          Frames.Orientation R;
          flow Real f[3](each unit="N");
          flow Real t[3](each unit="N.m");
        end Frame_b;
      end Interfaces;

      model World
        parameter Real g(unit="m/s2") = 9.80665;
        Interfaces.Frame_b frame_b;
      equation
        Connections.root(frame_b.R);
        frame_b.r_0 = zeros(3);
        frame_b.R = Frames.nullRotation();
      end World;
    end MultiBody;
  end Mechanics;
end Modelica;
