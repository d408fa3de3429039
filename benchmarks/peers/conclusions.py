"""The conclusions that open the page of peers, from its runs."""

from collections.abc import Sequence

import numpy as np
from peers.judge import Verdict
from peers.wording import count, median

GRADIENT, VALUES, MODEL = "rnshmc_gradient", "rnshmc_values", "rnshmc_model"
OURS = (GRADIENT, VALUES)
EMULATORS = ("bayesfast_quadratic", "bayesfast_importance")


def conclusions(
    runs: Sequence[Verdict], problems: Sequence[str], values_only: Sequence[str], dims: dict[str, int]
) -> str:
    """A list of conclusions; ``problems`` are those on which others were run, whose values_only take no gradients."""
    lines = [
        _with_gradients(runs, problems, values_only),
        _without_gradients(runs, problems, values_only),
        _forward_models(runs),
        _dimensions(runs, dims),
        _verdicts(runs),
        _former_sampler(runs),
    ]
    return "\n".join([*(f"- {line}" for line in lines if line), ""])


def former(run: Verdict) -> bool:
    """Whether a run is of earlier code, which fell back to an ensemble sampler without gradients."""
    return run.peer == VALUES and "ensemble" in run.says


def _units(runs: Sequence[Verdict], problem: str) -> dict[str, float]:
    """Median units until the goal by peer, on one problem."""
    found = [run for run in runs if run.problem == problem]
    return {peer: median([run for run in found if run.peer == peer], "units_goal") for peer in {r.peer for r in found}}


def _with_gradients(runs: Sequence[Verdict], problems: Sequence[str], values_only: Sequence[str]) -> str:
    """On how many problems ours takes fewer units than any other sampler, and by what factor."""
    of_density = [run for run in runs if run.peer not in (MODEL, *EMULATORS)]
    medians = [_units(of_density, name) for name in problems]
    best = [min((u for peer, u in of.items() if peer not in OURS), default=np.inf) for of in medians]
    wins = sum(of.get(GRADIENT, np.inf) < other for of, other in zip(medians, best, strict=True))
    derivatives = [
        min((u for peer, u in of.items() if peer not in (*OURS, *values_only)), default=np.inf) for of in medians
    ]
    ratios = [
        other / of[GRADIENT]
        for of, other in zip(medians, derivatives, strict=True)
        if np.isfinite(other) and np.isfinite(of.get(GRADIENT, np.inf))
    ]
    text = (
        f"**With gradients**, `rnshmc.sample` needs the fewest units on {wins} of {len(problems)} posteriors on which "
        "others were run."
    )
    if not ratios:
        return text
    low, middle, high = count(min(ratios)), count(float(np.median(ratios))), count(max(ratios))
    return (
        f"{text} On the {len(ratios)} where another sampler with gradients reaches the accuracy of 1000 draws, the "
        f"best one takes {low} to {high} times as many (median {middle})."
    )


def _without_gradients(runs: Sequence[Verdict], problems: Sequence[str], values_only: Sequence[str]) -> str:
    medians = [of for of in (_units(runs, name) for name in problems) if VALUES in of]
    if not medians:
        return ""
    reached = [of for of in medians if np.isfinite(of[VALUES])]
    others = [[u for peer, u in of.items() if peer in values_only and peer != VALUES] for of in medians]
    lost = sum(
        min(units, default=np.inf) < np.inf and not np.isfinite(of[VALUES])
        for of, units in zip(medians, others, strict=True)
    )
    return (
        f"**Without gradients**, it reaches that accuracy on {len(reached)} of {len(medians)}. On {lost} of the "
        "others, another sampler does."
    )


def _forward_models(runs: Sequence[Verdict]) -> str:
    problems = sorted({run.problem for run in runs if run.peer == MODEL})
    medians = [_units(runs, name) for name in problems]
    ratios = [
        other / of[MODEL]
        for of in medians
        if np.isfinite(other := min((of[peer] for peer in EMULATORS if peer in of), default=np.inf))
    ]
    if not ratios:
        return ""
    return (
        f"**Forward models**: emulated outputs take {count(min(of[MODEL] for of in medians))} to "
        f"{count(max(of[MODEL] for of in medians))} runs. BayesFast, which also emulates outputs, takes "
        f"{count(min(ratios))} to {count(max(ratios))} times as many. The prior is searched for "
        "other modes, too, for part of these runs ([without](development/tried/goals.md#forward-models))."
    )


def _dimensions(runs: Sequence[Verdict], dims: dict[str, int]) -> str:
    large = {run.problem for run in runs if run.peer == GRADIENT and dims[run.problem] >= 100}
    if not large:
        return ""
    per = [_units(runs, name)[GRADIENT] / dims[name] for name in large]
    return (
        f"**Many dimensions**: with 100 to {max(dims[name] for name in large)} parameters it takes {min(per):.1f} to "
        f"{max(per):.1f} units per parameter."
    )


def _verdicts(runs: Sequence[Verdict]) -> str:
    good = [run for run in runs if run.peer in (*OURS, MODEL) and run.says_good]
    if not good:
        return ""
    return f"**Verdicts**: {sum(run.honest for run in good)} of its {len(good)} results marked good are accurate."


def _former_sampler(runs: Sequence[Verdict]) -> str:
    if not any(former(run) for run in runs):
        return ""
    return (
        "**Earlier code**: rows of `rnshmc_values` whose verdict contains *ensemble* were made by earlier code, which "
        "fell back to an ensemble sampler. Now the result is that of the last surrogate, marked bad."
    )
