"""From a model to an .fmu: C sources, description, documentation, compiler, checks, archive."""
