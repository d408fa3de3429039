"""Time two callables against each other: interleaved, on one BLAS thread, as a ratio with a stated bound."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Comparison:
    """Seconds per call of a candidate and of its baseline, in the order in which they alternated."""

    name: str
    bound: float
    candidate_s: tuple[float, ...]
    baseline_s: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Best candidate time over best baseline time: other processes only ever add to a time."""
        return min(self.candidate_s) / min(self.baseline_s)

    @property
    def within_bound(self) -> bool:
        return self.ratio <= self.bound

    def __str__(self) -> str:
        verdict = "PASS" if self.within_bound else "OVER"
        return (
            f"{verdict}  {self.name}: ratio {self.ratio:.2f}, bound {self.bound:g}; "
            f"{_milliseconds(self.candidate_s)} against {_milliseconds(self.baseline_s)}"
        )


def compare(
    name: str,
    candidate: Callable[[], object],
    baseline: Callable[[], object],
    *,
    bound: float,
    repeats: int = 100,
    calls: int = 1,
) -> Comparison:
    """Alternate the two callables ``repeats`` times on one BLAS thread, after one untimed round.

    Alternating exposes both to the same load, clock rate and cold caches. ``calls`` of one callable are timed together,
    for callables so short that the clock would count.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        _seconds(candidate, calls)
        _seconds(baseline, calls)
        pairs = [(_seconds(candidate, calls), _seconds(baseline, calls)) for _ in range(repeats)]
    candidate_s, baseline_s = zip(*pairs, strict=True)
    return Comparison(name, bound, candidate_s, baseline_s)


def report(comparisons: list[Comparison]) -> int:
    """Print one line per comparison; the exit status is 1 if any is over its bound."""
    for comparison in comparisons:
        print(comparison)
    return int(not all(comparison.within_bound for comparison in comparisons))


def _seconds(function: Callable[[], object], calls: int) -> float:
    start = perf_counter()
    for _ in range(calls):
        function()
    return (perf_counter() - start) / calls


def _milliseconds(seconds: tuple[float, ...]) -> str:
    return f"{1e3 * min(seconds):.3f} ms (median {1e3 * median(seconds):.3f})"
