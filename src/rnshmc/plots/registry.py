"""All figures: those of a run, in the order of the report, and those of each problem."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import reduce
from inspect import signature
from typing import Any

from jinja2 import Environment, StrictUndefined

from rnshmc.plots import (
    adaptive,
    chain_figures,
    chain_metrics,
    efficiency,
    elliptic,
    gradient_logistic,
    gradient_models,
    gradient_stochastic,
    gradients,
    marginals,
    parallel,
    surrogates,
    sweeps,
)
from rnshmc.plots.drawing import Drawing
from rnshmc.results.metrics import read_metrics_frame
from rnshmc.results.posterior import ProblemChains
from rnshmc.scorecard.published import read_acceptance
from rnshmc.targets.forward_data import ForwardData, Predictions

FIGURE_READERS: Mapping[str, Callable[..., Any]] = {
    "chains": ProblemChains.read,
    "forward": ForwardData.load,
    "metrics": read_metrics_frame,
    "predictions": Predictions.load,
    "published": read_acceptance,
}
"""Readers of the files that figures are drawn from, other than tables."""
# Plain text, which pages escape.
_TEXTS = Environment(undefined=StrictUndefined, autoescape=False)
FIGURES = (
    surrogates.FIG1,
    surrogates.FIG2,
    sweeps.FIG3,
    sweeps.FIG4,
    sweeps.FIG5,
    efficiency.FIGURE,
    chain_metrics.EVALUATIONS,
    chain_metrics.ACCEPTANCE,
    marginals.FIG6,
    adaptive.FIG7,
    adaptive.FIG8,
    gradient_models.FIG1,
    gradients.FIG2,
    gradients.FIG3,
    gradient_models.FIG6,
    gradient_models.FIG7,
    gradient_models.FIG8,
    gradient_logistic.FIG4,
    gradient_logistic.FIG5,
    gradient_stochastic.FIG9,
    gradient_stochastic.FIG10,
    parallel.SCALING,
    parallel.MESH_STUDY,
)
PROBLEM_FIGURES = (
    chain_figures.TRACES,
    marginals.OF_PROBLEM,
    elliptic.FIELD,
    elliptic.PRESSURE,
    chain_figures.AUTOCORRELATION,
    chain_metrics.ACCEPTANCE_OF_PROBLEM,
)
"""The figures of one problem; field and pressure are of an elliptic one."""


def run_figures(
    available: Collection[str],
    of_problems: Mapping[str, Collection[str]],
    config: Mapping[str, Any],
    problems: Mapping[str, Mapping[str, Any]],
) -> dict[str, Drawing]:
    """The figures that a run can draw, by their names, with captions filled in.

    `available` has the names of the tables that are made, and keys of `FIGURE_READERS`;
    `of_problems` has the same for each problem with figures of its own.
    """
    found = [drawing for drawing in FIGURES if set(drawing.reads) <= set(available)]
    found += [
        replace(drawing, name=f"{problem}_{drawing.name}", problem=problem)
        for problem, files in of_problems.items()
        for drawing in PROBLEM_FIGURES
        if set(drawing.reads) <= set(files)
    ]
    return {drawing.name: _filled(drawing, config, problems) for drawing in found}


def _filled(drawing: Drawing, config: Mapping[str, Any], problems: Mapping[str, Mapping[str, Any]]) -> Drawing:
    """The entry with values in place of settings."""
    keys = drawing.config.split(".") if drawing.config else ()
    experiment = reduce(lambda settings, key: settings[key], keys, config) if keys else {}
    problem = drawing.problem or experiment.get("problem", "")
    shown = {problem: problems[problem]} if problem else problems
    known = {
        **experiment,
        "config": config,
        "titles": {name: entry["title"] for name, entry in shown.items()},
        "compared": any("paper" in entry for entry in shown.values()),
        **(_of_problem(problem, problems[problem]) if problem else {}),
    }
    return replace(
        drawing,
        problem=problem,
        caption=_TEXTS.from_string(drawing.caption).render(known),
        arguments={name: known[name] for name in list(signature(drawing.draw).parameters)[len(drawing.reads) :]},
    )


def _of_problem(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    # Coordinates are named by the target, or by the user.
    names = {"names": entry["names"]} if "names" in entry else {}
    target = {**entry["target"], **names}
    return {"problem": name, "title": entry["title"], "samplers": entry["samplers"], "target": target}
