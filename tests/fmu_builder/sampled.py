"""Contact events of a trace, as the master finds them of an FMU that does not record its contacts."""

from __future__ import annotations

from fmu_builder.cosim.events import SAMPLED, ContactEvent, SampledContact, event_values
from fmu_builder.cosim.trace import Trace


def sampled_contacts(trace: Trace) -> tuple[list[ContactEvent], dict[str, float]]:
    """The contacts, and the number begun at each place."""
    places = [name.removesuffix(".in_contact") for name in trace.names if name.endswith(".in_contact")]
    interval = float(trace.time[1] - trace.time[0])
    contacts = [SampledContact(place, interval) for place in places]
    for contact in contacts:
        columns = {q: trace[f"{contact.place}.{q}"] for q in SAMPLED if f"{contact.place}.{q}" in trace}
        for k, time in enumerate(trace.time):
            contact.sample(float(time), {quantity: float(column[k]) for quantity, column in columns.items()})
    return [event for contact in contacts for event in contact.finished()], {c.place: c.count() for c in contacts}


def contact_events(trace: Trace) -> dict[str, float]:
    return event_values(*sampled_contacts(trace))
