"""FMUs for FMI 3.0 as slaves: a library between them and the master, which speaks FMI 2.0."""
