"""All figures: those of a run, in the order of the report, and those of each problem."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import reduce
from inspect import signature
from typing import Any

from jinja2 import Environment, StrictUndefined

from rnshmc.plots import (
    acceptance,
    autocorrelation,
    banana,
    efficiency,
    error_by_time,
    evaluations,
    field,
    gaussian_sweep,
    histograms,
    hyperparameters,
    marginals,
    mesh_study,
    network_banana,
    network_gaussian,
    one_dimension,
    predictions,
    pressure,
    prior_swap,
    scaling,
    series,
    sweep,
    trace_rows,
    traces,
    training_acceptance,
    training_losses,
    training_schedule,
)
from rnshmc.plots.drawing import Drawing

# Plain text, which pages escape.
_TEXTS = Environment(undefined=StrictUndefined, autoescape=False)
FIGURES = (
    one_dimension.FIGURE,
    banana.FIGURE,
    gaussian_sweep.FIGURE,
    sweep.FIG4,
    sweep.FIG5,
    efficiency.FIGURE,
    evaluations.FIGURE,
    acceptance.FIGURE,
    marginals.FIG6,
    training_acceptance.FIGURE,
    error_by_time.FIGURE,
    training_schedule.FIGURE,
    network_banana.FIGURE,
    network_gaussian.FIGURE,
    series.FIGURE,
    hyperparameters.FIGURE,
    predictions.FIGURE,
    prior_swap.FIGURE,
    training_losses.FIGURE,
    histograms.FIGURE,
    trace_rows.FIGURE,
    scaling.FIGURE,
    mesh_study.FIGURE,
)
PROBLEM_FIGURES = (
    traces.FIGURE,
    marginals.OF_PROBLEM,
    field.FIGURE,
    pressure.FIGURE,
    autocorrelation.FIGURE,
    acceptance.OF_PROBLEM,
)
"""The figures of one problem; field and pressure are of an elliptic one."""


def run_figures(
    available: Collection[str],
    of_problems: Mapping[str, Collection[str]],
    config: Mapping[str, Any],
    problems: Mapping[str, Mapping[str, Any]],
) -> dict[str, Drawing]:
    """The figures that a run can draw, by their names, with captions filled in.

    Parameters
    ----------
    available
        Names of the tables that are made, and keys of `rnshmc.plots.readers.FIGURE_READERS`.
    of_problems
        The same for each problem with figures of its own.
    config
        Settings of the run.
    problems
        Settings of each problem.
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
