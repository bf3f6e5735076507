"""Many workers of dask in one process, which sleep for the time of their runs: `sleeping_workers.py ADDRESS COUNT RUN`.

They cost a machine of two cores what scheduling costs, and show the scheduler what a cluster of COUNT cores would.
They unpack no FMUs.   RUN: what a run takes, s; its two responses are zeros."""

from __future__ import annotations

import asyncio
import sys
import time

import numpy as np
from distributed import Worker

from fmu_builder.studies import cluster, work
from fmu_builder.studies.work import OK, Batch, Done


def sleep(key: str, batch: Batch, run: float = float(sys.argv[3]), responses: int = 2) -> Done:
    seconds = run * len(batch)
    time.sleep(seconds)
    count = len(batch)
    zeros = np.zeros((count, responses))
    return Done(zeros, [OK] * count, [""] * count, np.full(count, run), [], seconds)


async def main(address: str, count: int) -> None:
    work.run_batch = sleep  # the study names it, and each worker calls its own; so with the plugin
    cluster.Plugin.setup = cluster.Plugin.teardown = lambda plugin, worker: None
    workers = [Worker(address, nthreads=1, dashboard_address=None, memory_limit=0) for _ in range(count)]
    await asyncio.gather(*workers)
    print("ready", flush=True)
    await asyncio.gather(*(worker.finished() for worker in workers))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
