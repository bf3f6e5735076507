"""Forces between bodies and force elements that are solved for in each communication step: `implicit`, `adaptive`.

bonds      what power bonds connect                  bodies     affine models of the bodies
elements   what elements answer to a trial           forces     the discrete gradient
iqn        the solution of all forces of a group     group      one step of a group
control    adaptive steps                            run        all groups of a run
report     what a result tells of them
"""
