"""Tables of the adaptive experiment: acceptance by training points, error of the mean by running time (section 5.3)."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from rnshmc.results.estimates import BASELINE, cells, estimates
from rnshmc.results.metrics import ChainMetrics
from rnshmc.store.chains import StoredChain
from rnshmc.store.timing import Timing

WINDOW = 100
"""Kept iterations per window for averaging acceptances; at most a twentieth of the chain."""
TIMES = 100
"""Times at which Fig. 8 compares errors."""
COMPARED = (BASELINE, "rns_hmc", "arns_hmc")
"""The samplers of Fig. 8."""

FIG7_COLUMNS = ("problem", "sampler", "chain", "training_points", "ap", "hmc_ap", "window", "data")
FIG8_COLUMNS = ("problem", "sampler", "chain", "iteration", "phase", "seconds", "rem", "data")


def acceptance_by_training(chains: Iterable[StoredChain], metrics: Iterable[ChainMetrics]) -> pd.DataFrame:
    """Acceptance of adaptive chains as their training sets grow (paper A, Fig. 7): one row per chain and window.

    Windows do not overlap, so that rows of one chain are nearly independent. The mean acceptance probability in a
    window is less noisy than the share of accepted moves. `training_points` are those at the middle of the window:
    those of the first fit and one for each adaptive iteration since. `metrics` are of the chains of HMC.
    """
    exact = {cell[0]: float(np.mean([chain.ap for chain in members])) for cell, members in cells(metrics).items()}
    parts = [_windows(chain, exact) for chain in chains] or [pd.DataFrame(columns=list(FIG7_COLUMNS))]
    return pd.concat(parts, ignore_index=True)[list(FIG7_COLUMNS)]


def error_by_time(metrics: Sequence[ChainMetrics], timings: Sequence[Timing]) -> pd.DataFrame:
    """Relative error of the mean against running time (paper A, Fig. 8): one row per chain and time.

    All chains of a problem have the same `TIMES` times, evenly spaced on a logarithmic axis, from the time when every
    chain has an error to the time when the first sampler ends. The error is the chain's last one before that time, at
    ``iteration``; the mean is taken over all states since the beginning of the training set.

    Each iteration of the exploration takes the seconds per iteration of HMC in the timing stage, the fit its processor
    seconds (which other jobs do not affect), and each later iteration those of the sampler. Raises `StoreError` if a
    timing is missing, or the chains of a cell do not belong together.
    """
    seconds = {cell: row["s_per_iter"].value for cell, row in estimates(metrics, timings).items()}
    clocked: dict[str, list[pd.DataFrame]] = {}
    for (problem, sampler), chains in cells(metrics).items():
        if sampler in COMPARED and (problem, BASELINE) in seconds:
            pace = {"explore": seconds[problem, BASELINE], "sample": seconds[problem, sampler]}
            clocked.setdefault(problem, []).extend(_clocked(chain, pace) for chain in chains)
    parts = [part for chains in clocked.values() for part in _at_equal_seconds(chains)]
    return pd.concat(parts or [pd.DataFrame(columns=list(FIG8_COLUMNS))], ignore_index=True)[list(FIG8_COLUMNS)]


def _windows(chain: StoredChain, exact: Mapping[str, float]) -> pd.DataFrame:
    probabilities = chain.stats["accept_prob"]
    window = max(1, min(WINDOW, len(probabilities) // 20))
    count = len(probabilities) // window
    middles = np.arange(count) * window + window // 2
    problem = str(chain.settings["problem"])
    return pd.DataFrame(
        {
            "problem": problem,
            "sampler": str(chain.settings["sampler"]),
            "chain": int(chain.settings["chain"]),
            "training_points": int(chain.phases["fit"]["training_states"]) + middles,
            "ap": probabilities[: count * window].reshape(count, window).mean(axis=1),
            "hmc_ap": exact[problem],
            "window": window,
            "data": chain.origin,
        }
    )


def _clocked(chain: ChainMetrics, pace: Mapping[str, float]) -> pd.DataFrame:
    iteration = np.array(chain.rem_iteration)
    explored = np.minimum(iteration, chain.explored)
    fit = chain.phases.get("fit", {}).get("cpu_s", 0.0)
    after = iteration > chain.explored
    seconds = explored * pace["explore"] + after * fit + (iteration - explored) * pace["sample"]
    return pd.DataFrame(
        {
            "problem": chain.problem,
            "sampler": chain.sampler,
            "chain": chain.chain,
            "iteration": iteration,
            "phase": np.where(after, "sample", "explore"),
            "seconds": seconds,
            "rem": chain.rem,
            "data": chain.origin,
        }
    )


def _at_equal_seconds(chains: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Each chain's last point before each time at which all of them run; empty if there is no such time."""
    ranges = [(chain["seconds"].iloc[0], chain["seconds"].iloc[-1]) for chain in chains if len(chain)]
    start, end = (max(first for first, _ in ranges), min(last for _, last in ranges)) if ranges else (1.0, 0.0)
    if start >= end:
        return []
    times = np.geomspace(start, end, TIMES)
    times[[0, -1]] = start, end
    return [
        chain.iloc[np.searchsorted(chain["seconds"], times, side="right") - 1].assign(seconds=times)
        for chain in chains
        if len(chain)
    ]
