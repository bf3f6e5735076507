"""The loop of the master: one list of operations for each tick, which C and Python both run, with the same bits.

operations.py   what a tick does, in its order, and the same in Python
compiled.py     the list as the C loop reads it
loop.c          the C loop
program.py      the list of a run, in chunks; which loop runs it
"""
