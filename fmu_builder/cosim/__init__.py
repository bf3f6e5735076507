"""Coupled runs: slaves, the master, traces, events and their comparison with a reference."""
