"""The loop of the master: one list of operations for each tick, which C and Python both run, with the same bits.

operations.py   what a tick does, in its order, and the same in Python
compiled.py     the list as the C loop reads it
loop.c          the C loop
operations.h    what a tick does, in C; of groups whose forces are solved for: ../implicit/group.h
program.py      the list of a run, in chunks; which loop runs it
"""
