"""Forces between bodies and force elements that are solved for in each communication step: `implicit`, `adaptive`.

bonds      what power bonds connect                  bodies     affine models of the bodies
elements   what elements answer to a trial           driven     their motions that [drive] gives
counts     contacts that they met within a step
forces     the discrete gradient
iqn        the solution of all forces of a group     group      one step of a group
substeps   within a step of `implicit`               control    steps of `adaptive`
run        all groups of a run                       report     on their forces
compiled   the same in C: NAME.h does what NAME.py does, solution.h a part of group.py, in the same order of operations,
           so with the same bits
arithmetic the sums that this takes
"""
