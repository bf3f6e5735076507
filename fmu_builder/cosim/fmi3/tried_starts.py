"""Start values as the trial of an FMU sets them: one by one, arrays whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fmu_builder.cosim.fmi3.adaptor import kind_of
from fmu_builder.cosim.fmi3.arrays import Array
from fmu_builder.export.trial import Start
from fmu_builder.model.connectable import FAMILY, SlaveVariable


def tried_starts(
    variables: Mapping[str, SlaveVariable],
    arrays: Sequence[Array],
    kinds: Mapping[int, str] | None,
    starts: Mapping[str, float | str],
) -> Iterator[Start]:
    """Each given start value; of an array with some, all.   kinds: types of FMI 3.0 by reference, None for FMI 2.0"""
    whole = {name: array for array in arrays for name in array.names}
    for name in dict.fromkeys(whole[name].names[0] if name in whole else name for name in starts):
        variable = variables[name]
        family, is_input = FAMILY[variable.type], variable.causality == "input"
        if name in whole:
            array = whole[name]
            numbers = array.numbers({one: float(starts[one]) for one in array.names if one in starts})
            given = numbers if family == "Real" else [int(number) for number in numbers]
            yield kind_of(array.kind), array.reference, given, is_input
        else:
            value = starts[name]
            number = value if isinstance(value, str) or family == "Real" else int(value)
            yield (kinds or {}).get(variable.reference, family), variable.reference, number, is_input
