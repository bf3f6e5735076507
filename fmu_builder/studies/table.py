"""The table of a study: one row for each run, in Parquet.

    run                  int64     number of the run in the plan, from 0
    (factors)            double    SI, or text
    (responses)          double    SI; null where the run has none
    trace.time, trace.X  list      with [traces]: the times and the values of the signal X
    status               text      ok, failed, refused, time limit, killed
    message              text      what failed, or why the run ended early
    seconds              double    that its computation took
    seed                 int64     of the plan
    fmus                 text      the first 16 digits of the SHA-256 of the FMU of each slave
    fmu_builder, python  text      versions of the worker

The unit of a column is in the metadata of its field, `unit`; what the study was is in the metadata of the table,
`fmu-builder.study`, as JSON.  While a study runs, its rows are appended to a journal beside the table, a stream of
Arrow, from which a killed study goes on.  The table is replaced when the study ends."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fmu_builder.errors import InputError, Problem, ToolError
from fmu_builder.export.cache import locked
from fmu_builder.files import no_place, no_table, staged
from fmu_builder.studies.factors import Axis
from fmu_builder.studies.work import OK, Batch, Done, Job

ABOUT = b"fmu-builder.study"
_GROUP = 65_536  # rows of a row group
_SYNCED = 1.0  # s between two times at which the rows are made to survive a power cut


def arrow() -> Any:
    """pyarrow.   Raises ToolError where it is not installed."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        raise ToolError("the table of a study needs pyarrow: pip install 'fmu-builder[study]'") from error
    return pyarrow


def journal_of(table: Path) -> Path:
    return table.with_name(f".{table.name}.rows")


def schema_of(job: Job, about: Mapping[str, object]) -> Any:
    pa = arrow()

    def field(name: str, kind: Any, unit: str = "") -> Any:
        return pa.field(name, kind, metadata={"unit": unit} if unit else None)

    text = pa.string()
    times = [field("trace.time", pa.list_(pa.float64()), "s")] if job.responses.traced else []
    return pa.schema(
        [
            field("run", pa.int64()),
            *(field(a.name, pa.float64() if a.is_number else text, a.unit) for a in job.axes),
            *(field(name, pa.float64(), job.responses.units[name]) for name in job.responses.names),
            *times,
            *(field(f"trace.{name}", pa.list_(pa.float64())) for name in job.responses.traced),
            *(field(name, text) for name in ("status", "message")),
            field("seconds", pa.float64(), "s"),
            field("seed", pa.int64()),
            *(field(name, text) for name in ("fmus", "fmu_builder", "python")),
        ],
        metadata={ABOUT: json.dumps(dict(about))},
    )


def rows_of(job: Job, schema: Any, seed: int, batch: Batch, done: Done) -> Any:
    """The rows of a batch as a record batch of Arrow."""
    pa, count = arrow(), len(batch)
    columns: list[Any] = [pa.array(batch.runs)]
    columns += [_cells(pa, axis, batch.rows[:, column]) for column, axis in enumerate(job.axes)]
    for column in range(len(job.responses.names)):
        columns.append(pa.array(done.responses[:, column], from_pandas=True))  # NaN is null
    if job.responses.traced:
        signals = range(len(job.responses.traced) + 1)
        columns += [pa.array([t[k] if t else None for t in done.traces], pa.list_(pa.float64())) for k in signals]
    columns += [pa.array(done.status), pa.array([one or None for one in done.messages], pa.string())]
    columns += [pa.array(done.seconds), pa.array(np.full(count, seed, dtype=np.int64))]
    texts = {key: " ".join(one[:16] for one in hashes.values()) for key, hashes in job.fmus.items()}
    columns.append(pa.array([texts[job.structure(row)] for row in batch.rows.tolist()]))
    columns += [pa.array([version] * count) for version in job.versions]
    return pa.record_batch(columns, schema=schema)


def _cells(pa: Any, axis: Axis, numbers: NDArray[np.float64]) -> Any:
    if axis.cells is None:
        return pa.array(numbers)
    if axis.is_number:
        return pa.array(np.array(axis.cells, dtype=np.float64)[numbers.astype(np.int64)])
    return pa.array([axis.cells[int(number)] for number in numbers], pa.string())


class Journal:
    """Rows that are finished, in the order in which they came.  Nobody else writes the table while it is open."""

    def __init__(self, table: Path, schema: Any, again: bool = False) -> None:
        """Reads which rows there are: in the journal of a study that was killed, else in the table.

        again   none of them counts
        Raises InputError for the table of another study and a file that is none, ToolError where another process writes
        it."""
        self._table, self._schema, self._again = table, schema, again
        self.path = journal_of(table)
        self.runs: list[NDArray[np.int64]] = []
        self.failed = 0
        self._file: BinaryIO | None = None
        self._stream: Any = None
        self._synced = 0.0
        with _failures(table, "choose another place with -o"):
            table.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _Lock(table)
        try:
            if again and table.exists():
                read_schema(table)  # another file is kept
            for rows in self._kept():
                self._count(rows)
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        self._lock.close()

    def _kept(self) -> Iterator[Any]:
        """A journal begins with the rows of the table, so it has all of them."""
        if self._again:
            return
        journal = _schema_of_journal(self.path)
        if journal is not None:
            check_same(journal, self._schema, self._table)
            with self.path.open("rb") as file:
                yield from _in_columns(_whole_batches(file), self._schema)
        elif self._table.exists():
            check_same(read_schema(self._table), self._schema, self._table)
            rows = arrow().parquet.ParquetFile(self._table).iter_batches(_GROUP)
            yield from _in_columns(rows, self._schema)

    def begin(self) -> None:
        """Write the journal anew, with the rows that are there.   Raises ToolError; the old one is kept then."""
        new = self.path.with_name(f"{self.path.name}.new")
        with _failures(self._table, "choose another place with -o"):
            try:
                self._file = new.open("wb")
                self._stream = arrow().ipc.new_stream(self._file, self._schema)
                for rows in self._kept():
                    self._stream.write_batch(rows)
                self._sync(0.0)
                new.replace(self.path)
                _sync_folder(self.path.parent)
            except BaseException:
                self._stream = None
                new.unlink(missing_ok=True)
                raise

    @property
    def count(self) -> int:
        return sum(map(len, self.runs))

    def add(self, rows: Any) -> None:
        """Raises ToolError."""
        with _failures(self.path, "the rows before are kept"):
            self._stream.write_batch(rows)
            self._sync(_SYNCED)
        self._count(rows)

    def _count(self, rows: Any) -> None:
        self.runs.append(rows.column("run").to_numpy(zero_copy_only=False))
        self.failed += sum(one != OK for one in rows.column("status").to_pylist())

    def _sync(self, interval: float) -> None:
        """What was written survives the end of this process; a power cut, if the last such call is so many s old."""
        assert self._file is not None
        self._file.flush()
        if time.monotonic() - self._synced >= interval:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def finish(self) -> None:
        """Write the table, sorted by the numbers of the runs, and remove the journal.   Raises ToolError.

        Without any row the table stays as it is."""
        if self._stream is None or self._file is None:
            return
        pa = arrow()
        with _failures(self._table, f"the rows are kept in {self.path}"):
            try:
                self._stream.close()
            finally:
                self._file.close()
            if self.count:
                with staged(self._table) as (new,), pa.memory_map(str(self.path)) as source:
                    rows = pa.Table.from_batches(_whole_batches(source), self._schema)
                    order = np.argsort(rows.column("run").to_numpy(), kind="stable")
                    with pa.parquet.ParquetWriter(new, self._schema, compression="zstd") as writer:
                        for first in range(0, len(order), _GROUP):
                            writer.write_table(rows.take(order[first : first + _GROUP]))
                    del rows
                    with new.open("rb+") as file:
                        os.fsync(file.fileno())
                _sync_folder(self._table.parent)
            self.path.unlink()


class _Lock:
    """Of the one study that writes a table.   Raises ToolError while another one does, OSError."""

    def __init__(self, table: Path) -> None:
        self._path = table.with_name(f".{table.name}.lock")
        while True:
            self._file = self._path.open("ab")
            if locked(self._file.fileno()) is False:
                self._file.close()
                what = "is being written by another study: wait for its end, or choose another place with -o"
                raise ToolError(Problem(str(table), what))
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._file.fileno()), self._path.stat()):
                    return
            self._file.close()  # the study before has removed it

    def close(self) -> None:
        with suppress(OSError):  # Windows removes no open file
            self._path.unlink()
        self._file.close()
        if sys.platform == "win32":
            with suppress(OSError):
                self._path.unlink()


@contextmanager
def _failures(path: Path, repair: str) -> Iterator[None]:
    """Raises ToolError for a disk that is full or cannot be written."""
    try:
        yield
    except OSError as error:
        raise ToolError(Problem(str(path), f"cannot be written: {error.strerror or error}; {repair}")) from error


def _sync_folder(folder: Path) -> None:
    """Names of files that were moved survive a power cut."""
    if sys.platform != "win32":
        file = os.open(folder, os.O_RDONLY)
        try:
            with suppress(OSError):  # some network drives cannot
                os.fsync(file)
        finally:
            os.close(file)


def _in_columns(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """Rows of the same study, whose text may have its responses in another order."""
    for rows in batches:
        ordered = rows.select(schema.names) if rows.schema.names != schema.names else rows
        yield ordered.cast(schema) if ordered.schema != schema else ordered


def _schema_of_journal(path: Path) -> Any:
    """None without a journal, or with one that ends before its schema does."""
    pa = arrow()
    try:
        with path.open("rb") as file:
            return pa.ipc.open_stream(file).schema
    except (pa.ArrowInvalid, OSError, EOFError):
        return None


def _whole_batches(source: Any) -> Iterator[Any]:
    """All rows of a journal that were written whole."""
    pa = arrow()
    with suppress(pa.ArrowInvalid, OSError, EOFError):
        yield from pa.ipc.open_stream(source)


def check_same(found: Any, schema: Any, table: Path) -> None:
    """Raises InputError where a table is of another study."""
    known, wanted = (about_of(one) for one in (found, schema))
    if known.get("key") == wanted.get("key"):
        return
    different = [part for part in wanted if part != "key" and known.get(part) != wanted[part]]
    what = f"is the table of another study ({', '.join(different) or 'levels'} differ)" if known else "is of no study"
    raise InputError(Problem(str(table), f"{what}: choose another file with -o, or replace it with --again"))


def about_of(schema: Any) -> dict[str, Any]:
    """What the study of a table was; empty if it is none."""
    found = json.loads((schema.metadata or {}).get(ABOUT, b"{}"))
    return found if isinstance(found, dict) else {}


def read_schema(table: Path) -> Any:
    """Raises InputError for what is no table of a study."""
    pa = arrow()
    if not table.is_file():
        raise InputError(Problem(str(table), "there is no such file"))
    try:
        schema = pa.parquet.read_schema(table)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(Problem(str(table), f"cannot be read as Parquet: {str(error).splitlines()[0]}")) from error
    if not about_of(schema):
        raise InputError(Problem(str(table), "is no table of a study"))
    return schema


def check_place(table: Path) -> None:
    """Whether the table can be written, before the runs.   Raises InputError, ToolError."""
    if table.is_dir():
        raise InputError(Problem("-o", f"'{table}' is a folder; name a file in it"))
    if what := no_table(table):
        raise InputError(Problem("-o", what))
    if what := no_place(table):
        raise ToolError(Problem("-o", what))


def columns(table: Path, names: Sequence[str] | None = None) -> Any:
    """The table, or some columns of it."""
    read_schema(table)
    return arrow().parquet.read_table(table, columns=list(names) if names is not None else None)
