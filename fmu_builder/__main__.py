"""`python -m fmu_builder` is the command `fmu-builder`."""

from fmu_builder.cli import main

main()
