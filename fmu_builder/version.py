"""The version of the package as a plain number, `fmu_builder.__version__`."""

from fmu_builder.paths import own_version

__version__ = own_version().split()[0]
