"""Slaves in processes of their own: a crash or a hang of an FMU is a message, and other slaves go on unharmed.

channel.c   the functions of an FMU that pass their calls on by shared memory, and what makes them in the other process
child.py    the other process: loads the FMU
process.py  starts it, looks after it, and says how it ended
limits.py   what a scenario allows a slave"""
