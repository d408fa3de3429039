"""Checkpoints: an interrupted chain continues from its last saved state to the same draws."""

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from glob import escape
from pathlib import Path
from time import monotonic, perf_counter, process_time
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rnshmc.errors import CheckpointError, ParameterError
from rnshmc.files import atomic_path, read_npz, remove_leftovers, sha256
from rnshmc.types import Array, Resumable

SHARE = 0.01
"""Maximum share of a chain's time spent on checkpoints; on a slow disk they are further apart."""

_DAMAGED = "a damaged checkpoint ({}); remove the file to start again"

Arrays = dict[str, npt.NDArray[Any]]
S = TypeVar("S")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkpoint:
    """File and interval of a chain's checkpoints.

    The caller removes the checkpoint after storing the draws.
    """

    path: Path
    """An npz file, written atomically; it has numbers and JSON, no pickle."""
    spec: Mapping[str, Any]
    """Everything that determines the draws, as JSON values. The functions that run a chain add their own arguments."""
    every_s: float = 60.0
    """Seconds between checkpoints; the last one is written at the end of the phase."""

    @classmethod
    def of_job(cls, path: Path, spec: Mapping[str, Any], *, reads: Iterable[str], every_s: float) -> "Checkpoint":
        """The checkpoint of a workflow job, whose draws depend on its spec and on the bytes of its input files."""
        return cls(path, {**spec, "files": {name: sha256(Path(name)) for name in reads}}, every_s)

    def part(self, name: str) -> "Checkpoint":
        """The checkpoint of one of several phases; `remove` removes those of all."""
        return replace(self, path=self.path.with_name(f"{self.path.stem}.{name}{self.path.suffix}"))

    def extended(self, **more: Any) -> "Checkpoint":
        """The same checkpoint with more entries in its spec."""
        return replace(self, spec={**self.spec, **more})

    def remove(self) -> None:
        """Remove the file and those of its parts, if they exist."""
        stem, suffix = escape(self.path.stem), self.path.suffix
        for file in (self.path, *self.path.parent.glob(f"{stem}.*{suffix}")):
            file.unlink(missing_ok=True)

    def write(self, facts: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Replace the file by one with these facts (JSON values) and arrays."""
        texts: Arrays = {"spec": np.array(_json(self.spec)), "facts": np.array(_json(facts))}
        with atomic_path(self.path) as temporary:
            np.savez(temporary, **{**texts, **arrays})

    def read(self) -> tuple[dict[str, Any], Arrays] | None:
        """The stored facts and arrays; None if there is no file.

        Raises `CheckpointError` if the file is damaged, or belongs to another spec; the message names the keys that
        differ.
        """
        ours = json.loads(_json(self.spec))
        if not self.path.exists():
            return None
        arrays: Arrays = read_npz(self.path, says=_DAMAGED, error=CheckpointError)
        with _reading(self.path):
            spec, facts = (json.loads(arrays.pop(name).item()) for name in ("spec", "facts"))
        if differing := _differing(ours, spec):
            raise CheckpointError(
                f"{self.path}: a checkpoint of another chain, which differs in {', '.join(differing)}; remove the file "
                "to start again, or restore the earlier settings and code to continue that chain"
            )
        return facts, arrays


class Stopwatch:
    """Elapsed seconds and processor time of this process, all threads together, including the time before the
    checkpoint.

    ``wall_s`` and ``cpu_s`` are the seconds that the chain took in processes before this one.
    """

    def __init__(self, wall_s: float = 0.0, cpu_s: float = 0.0) -> None:
        self._wall, self._cpu = perf_counter() - wall_s, process_time() - cpu_s

    def read(self) -> dict[str, float]:
        """``wall_s`` and ``cpu_s`` so far."""
        return {"wall_s": perf_counter() - self._wall, "cpu_s": process_time() - self._cpu}


class Keeper:
    """Saves and resumes one phase of a chain; used by `rnshmc.run.chain.run_phase`.

    Everything that the next transition depends on is saved exactly: the state with its evaluations, the generator, and
    the state of the kernel and its driver if they are `Resumable`. Number of iterations, start and generator, as it is
    before the first iteration, are added to the spec of the checkpoint; `resume` restores the generator, and the saved
    part of ``draws`` and ``stats``. Raises `ParameterError` if the state of the generator cannot be written as JSON, as
    that of a PCG64 can.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        kernel: object,
        *,
        start: Array,
        rng: np.random.Generator,
        draws: Array,
        stats: Mapping[str, npt.NDArray[Any]],
    ) -> None:
        chain = {"iterations": len(draws), "start": _sha256(start.tobytes()), "generator": _sha256(_generator(rng))}
        self._checkpoint = checkpoint.extended(chain=chain)
        self._adaptive = kernel if isinstance(kernel, Resumable) else None
        self._rng, self._draws, self._stats = rng, draws, stats
        self._due = monotonic() + checkpoint.every_s

    def resume(self, state: S) -> tuple[S, int, Stopwatch]:
        """The state to continue from, the number of finished iterations, and the clock; ``state`` and 0 without a
        checkpoint.

        Raises `CheckpointError` if there is a checkpoint that is damaged or not of this chain.
        """
        path = self._checkpoint.path
        remove_leftovers(path)
        if (kept := self._checkpoint.read()) is None:
            return state, 0, Stopwatch()
        facts, arrays = kept
        with _reading(path):
            done = facts["iterations"]
            self._draws[:done] = arrays["draws"]
            for name, values in self._stats.items():
                values[:done] = arrays[f"stats.{name}"]
            state = _rebuilt(state, arrays, "state")
            if self._adaptive is not None:
                self._adaptive.restore(_nested(arrays, "kernel"))
            self._rng.bit_generator.state = facts["generator"]
        _log.info("%s: continues from checkpoint at iteration %d of %d", path, done, len(self._draws))
        return state, done, Stopwatch(**facts["elapsed"])

    def keep(self, state: object, done: int, clock: Stopwatch) -> None:
        """Write a checkpoint after iteration ``done`` if one is due, or if it was the last."""
        if done < len(self._draws) and monotonic() < self._due:
            return
        began = monotonic()
        facts = {"iterations": done, "generator": self._rng.bit_generator.state, "elapsed": clock.read()}
        arrays: Arrays = {"draws": self._draws[:done], **dict(_leaves(state, "state"))}
        arrays |= {f"stats.{name}": values[:done] for name, values in self._stats.items()}
        if self._adaptive is not None:
            arrays |= _leaves(self._adaptive.snapshot(), "kernel")
        self._checkpoint.write(facts, arrays)
        now = monotonic()
        self._due = now + max(self._checkpoint.every_s, (now - began) / SHARE)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """The arrays, numbers and strings in nested named tuples, dataclasses and mappings, by their dotted names."""
    entries = value if isinstance(value, Mapping) else {field: getattr(value, field) for field in _field_names(value)}
    for key, entry in entries.items():
        yield from _leaves(entry, f"{name}.{key}")
    if not entries:
        leaf = np.asarray(value)
        if leaf.dtype.hasobject:
            raise ParameterError(f"checkpoint: {name} is a {type(value).__name__}, not an array, a number or a string")
        yield name, leaf


def _rebuilt(like: Any, arrays: Arrays, name: str) -> Any:
    """A copy of an object with the leaves of ``arrays``, made without calling a constructor."""
    names = _field_names(like)
    if not names:
        return arrays[name] if isinstance(like, np.ndarray) else arrays[name].item()
    values = {field: _rebuilt(getattr(like, field), arrays, f"{name}.{field}") for field in names}
    if isinstance(like, tuple):
        return type(like)(*values.values())
    rebuilt = object.__new__(type(like))
    for field, value in values.items():
        object.__setattr__(rebuilt, field, value)
    return rebuilt


def _nested(arrays: Arrays, name: str) -> dict[str, Any]:
    """The nested mapping whose leaves were called ``name``.<key>..."""
    nested: dict[str, Any] = {}
    for dotted, array in arrays.items():
        first, *keys = dotted.split(".")
        if first == name:
            inner = nested
            for key in keys[:-1]:
                inner = inner.setdefault(key, {})
            inner[keys[-1]] = array if array.ndim else array.item()
    return nested


def _field_names(value: Any) -> tuple[str, ...]:
    if is_dataclass(value):
        return tuple(field.name for field in fields(value))
    return getattr(value, "_fields", ())


def _generator(rng: np.random.Generator) -> bytes:
    try:
        return json.dumps(rng.bit_generator.state, sort_keys=True).encode()
    except TypeError as error:
        name = type(rng.bit_generator).__name__
        raise ParameterError(f"rng: a checkpoint saves the state of a PCG64, not of a {name} ({error})") from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _json(content: Mapping[str, Any]) -> str:
    try:
        return json.dumps(content, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"checkpoint: its spec cannot be written as JSON: {error}") from error


def _differing(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Dotted names of the keys that differ, or that only one of the two has."""
    differing = []
    for key in sorted({*ours, *theirs}):
        mine, other = ours.get(key), theirs.get(key)
        if isinstance(mine, dict) and isinstance(other, dict):
            differing += [f"{key}.{name}" for name in _differing(mine, other)]
        elif mine != other or (key in ours) != (key in theirs):
            differing.append(key)
    return differing


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: {_DAMAGED.format(error)}") from error
