"""Nested sampling and `rnshmc.sample` on forward models with several modes: python -m peers.nested --help.

References are by importance sampling from Student's t distributions around the draws of a long nested run, one on each
side of `modes.CASES`.
"""

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from modes import CASES
from peers.limit import TimeLimitError, time_limit
from peers.records import read_records, write_records
from peers.wording import count
from scipy import stats
from scipy.special import logsumexp

import rnshmc
from rnshmc.inference.exact.priors.named import KINDS
from rnshmc.types import Array

REFERENCE = "reference"
BOTH = 0.2
"""Share of the smaller mode, relative to the exact one, from which a run has found it."""
WRONG = 5.0
"""Standard errors of the log evidence beyond which a result is wrong."""
OFF = 0.05
"""Error of a share beyond which it is."""
LIVE, DRAWS, HEAVY = 4000, 100000, 5
"""Live points and importance draws of a reference, and the degrees of freedom of these."""
SECONDS = 600
"""Processor time of a run of another sampler; they took seconds to two minutes, and one did not end in 40 minutes."""
LOWEST = -1e300


@dataclass(frozen=True)
class Run:
    """One run; ``share`` is that of the draws on the first side, 1 where one mode counts."""

    model: str
    sampler: str
    seed: int
    runs: int
    good: bool
    share: float
    log_evidence: float
    log_evidence_se: float


class Target:
    """A case: its log density, which counts the model's runs, and its prior, by quantiles of the unit cube."""

    def __init__(self, name: str) -> None:
        self.case, self.runs = CASES[name], 0
        self.model = self.case.model()
        self._priors = [KINDS[str(word)].frozen(*numbers) for word, *numbers in self.case.prior.values()]
        self._posterior = self.model.posterior(tuple(self.case.prior))
        self.dim = len(self._priors)

    def log_prior(self, x: Array) -> float:
        """Logarithm of the prior density of a point, (d,)."""
        return float(sum(prior.logpdf(entry) for prior, entry in zip(self._priors, x, strict=True)))

    def log_likelihood(self, x: Array) -> float:
        """Logarithm of the likelihood, from a run of the model."""
        self.runs += 1
        found, _ = self._posterior.evaluable.evaluate(x, gradient=False)
        assert self._posterior.forward_posterior is not None
        return max(-self._posterior.forward_posterior.read(found, x).value - self.log_prior(x), LOWEST)

    def quantiles(self, unit: Array) -> Array:
        """The prior's quantiles, (d,)."""
        return np.array([prior.ppf(entry) for prior, entry in zip(self._priors, unit, strict=True)])

    def share(self, draws: Array, weights: Array | None = None) -> float:
        """Share of the first side."""
        side = self.case.side
        return 1.0 if side is None else float(np.average(side(draws), weights=weights))


Found = tuple[bool, int, float, float, float]
"""Whether a run says that it is good, runs of the model, share, and the log evidence with its error."""


def ours(target: Target, seed: int, *, start: bool = False, modes: bool = True) -> Found:
    """`rnshmc.sample` with its defaults."""
    x0 = dict(target.case.start) if start else None
    found = rnshmc.sample(target.model, x0, modes=modes, seed=seed, progress_bar=False)
    evidence, good = found.log_evidence, found.verdict.level == "good"
    share = target.share(found.draws) if len(found.draws) else math.nan
    return good, found.spent.units, share, float(evidence.value), float(evidence.standard_error)


def dynesty(target: Target, seed: int) -> Found:
    """dynesty's static sampler with its defaults."""
    found = _nested(target, seed, 500)
    share = target.share(found.samples, found.importance_weights())
    return True, target.runs, share, float(found.logz[-1]), float(found.logzerr[-1])


def _nested(target: Target, seed: int, live: int) -> Any:
    from dynesty import NestedSampler

    rng = np.random.default_rng(seed)
    sampler = NestedSampler(target.log_likelihood, target.quantiles, target.dim, nlive=live, rstate=rng)
    sampler.run_nested(print_progress=False)
    return sampler.results


def nautilus(target: Target, seed: int) -> Found:
    """nautilus with its defaults, until 2000 effective draws."""
    from nautilus import Sampler

    sampler = Sampler(target.quantiles, target.log_likelihood, n_dim=target.dim, seed=seed, pass_dict=False)
    finished = sampler.run(n_eff=2000)
    draws, log_weights, _ = sampler.posterior()
    share = target.share(draws, np.exp(log_weights - log_weights.max()))
    return bool(finished), target.runs, share, float(sampler.log_z), 1.0 / math.sqrt(sampler.n_eff)


def reference(target: Target, seed: int) -> Found:
    """Share and log evidence by importance sampling."""
    found = _nested(target, seed, LIVE)
    draws, weights = found.samples, found.importance_weights()
    side = np.ones(len(draws), dtype=bool) if target.case.side is None else target.case.side(draws)
    laws = [_student(draws[on], weights[on]) for on in (side, ~side) if on.any()]
    rng = np.random.default_rng(seed)
    x = np.concatenate([law.rvs(DRAWS // len(laws), random_state=rng) for law in laws])
    priors = np.array([target.log_prior(one) for one in x])
    logs = np.array([target.log_likelihood(x[k]) if priors[k] > LOWEST else LOWEST for k in range(len(x))])
    logs += np.maximum(priors, LOWEST) - logsumexp([law.logpdf(x) for law in laws], axis=0) + math.log(len(laws))
    ratios = np.exp(logs - logs.max())
    error = float(ratios.std() / ratios.mean() / math.sqrt(len(x)))
    return True, target.runs, target.share(x, ratios), float(logs.max() + np.log(ratios.mean())), error


def _student(draws: Array, weights: Array) -> Any:
    covariance = np.cov(draws.T, aweights=weights)
    return stats.multivariate_t(np.average(draws, weights=weights, axis=0), covariance, HEAVY)


SAMPLERS: dict[str, Callable[[Target, int], Found]] = {
    "rnshmc, from one start": partial(ours, start=True),
    "rnshmc, from no start": ours,
    "rnshmc, one mode": partial(ours, start=True, modes=False),
    "dynesty": dynesty,
    "nautilus": nautilus,
    REFERENCE: reference,
}
OTHERS = ("dynesty", "nautilus")


def run(model: str, sampler: str, seed: int) -> Run:
    """One run; without a result if it was stopped."""
    target = Target(model)
    try:
        with time_limit(SECONDS) if sampler in OTHERS else nullcontext():
            good, units, share, *evidence = SAMPLERS[sampler](target, seed)
    except TimeLimitError:
        good, units, share, *evidence = False, target.runs, math.nan, math.nan, math.nan
    return Run(model, sampler, seed, units, good, share, *evidence)


def write_runs(path: Path, runs: Iterable[Run]) -> None:
    """A CSV file with a row for each run."""
    write_records(path, Run, runs, digits=10)


def merged(table: Path, anew: Sequence[Path]) -> list[Run]:
    """Runs of the files ``anew``, and those of the table on other models, in the order of `CASES`."""
    runs = [run for path in anew for run in read_records(path, Run)]
    there = {run.model for run in runs}
    runs += [run for run in read_records(table, Run) if run.model not in there]
    return sorted(runs, key=lambda run: list(CASES).index(run.model))


def section(runs: Sequence[Run], command: str) -> str:
    """The section of the page, in Markdown; empty without runs."""
    lines = [
        "## Several modes",
        "",
        "Forward models of two to four parameters with proper priors. *One mode* is `modes=False` from the same start, "
        "which is in the larger mode, but on the line; these verdicts say that no other mode was searched for. A run "
        "misses a mode if its share is less than a fifth of the exact one; it is wrong, too, if its share is off by "
        f"{OFF:g}, or its log evidence by {WRONG:g} standard errors. z is the error of the log evidence in standard "
        f"errors, where no mode is missed. A run of {' or '.join(OTHERS)} is stopped after {SECONDS} s of processor "
        "time, and has missed a mode then. The command of these rows alone:",
        "",
        f"    {command} --config part=modes",
        "",
        "| model | sampler | runs, median (largest) | good | modes missed | good and wrong | largest error of a share "
        "| mean z | rms z |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for model in dict.fromkeys(run.model for run in runs):
        [exact] = [run for run in runs if (run.model, run.sampler) == (model, REFERENCE)]
        for sampler in SAMPLERS:
            some = [run for run in runs if (run.model, run.sampler) == (model, sampler)]
            if some and sampler != REFERENCE:
                lines.append(f"| {model} | {sampler} | {' | '.join(_cells(some, exact))} |")
    return "\n".join([*lines, ""]) if runs else ""


def _cells(runs: Sequence[Run], exact: Run) -> list[str]:
    units, shares = sorted(run.runs for run in runs), np.array([run.share for run in runs])
    smaller, found = min(exact.share, 1.0 - exact.share), np.minimum(shares, 1.0 - shares)
    missed = ~(found >= BOTH * smaller)
    off = np.abs(shares - exact.share)
    z = np.array(
        [
            (run.log_evidence - exact.log_evidence) / math.hypot(run.log_evidence_se, exact.log_evidence_se)
            for run in runs
        ]
    )
    good = np.array([run.good for run in runs])
    wrong = good & (missed | (off > OFF) | ~(np.abs(z) < WRONG))
    whole = z[~missed]
    return [
        f"{count(units[len(units) // 2])} ({count(units[-1])})",
        f"{good.sum()} of {len(runs)}",
        f"{missed.sum()}",
        f"{wrong.sum()}",
        f"{off[~missed].max(initial=0.0):.3f}" if smaller > 0 else "-",
        *([f"{whole.mean():.1f}", f"{math.sqrt(np.square(whole).mean()):.1f}"] if len(whole) else ["-", "-"]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=CASES, required=True)
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=list(SAMPLERS))
    parser.add_argument("--seeds", type=int, default=10, help="of rnshmc; the others have at most three")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    runs = []
    for sampler in arguments.samplers:
        most = 1 if sampler == REFERENCE else arguments.seeds if sampler.startswith("rnshmc") else 3
        for seed in range(1, 1 + min(most, arguments.seeds)):
            runs.append(run(arguments.model, sampler, seed))
            print(runs[-1], flush=True)
    write_runs(arguments.output, runs)


if __name__ == "__main__":
    main()
