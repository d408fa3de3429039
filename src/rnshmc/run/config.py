"""Checks of a configuration beyond the JSON schema: consistency of its keys."""

from collections.abc import Iterator, Mapping
from typing import Any

from rnshmc.errors import ParameterError
from rnshmc.run.recipes import AUTO, recipe
from rnshmc.run.registry import TARGETS

EXPERIMENTS_BESIDE = frozenset({"fig4", "fig5", "scaling", "mesh_study"})
"""Experiments whose settings have subsections."""


def check_config(config: Mapping[str, Any]) -> None:
    """Check a configuration that already satisfies the schema.

    Raises `ParameterError` if keys contradict each other; the message names each of them.
    """
    complaints = list(_complaints(config))
    if complaints:
        raise ParameterError("configuration: " + "; ".join(complaints))


def selected_problems(config: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a run's problems, those named by the key ``only`` or all, each with its remaining samplers."""
    return {name: _with_its_samplers(entry) for name, entry in config["problems"].items() if is_selected(config, name)}


def _with_its_samplers(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A problem without the samplers in its key ``without`` and the surrogates that only these use."""
    left_out = entry.get("without", ())
    samplers = {name: settings for name, settings in entry["samplers"].items() if name not in left_out}
    used, unused = (
        {entry["samplers"][name].get("surrogate") for name in names if name in entry["samplers"]}
        for names in (samplers, left_out)
    )
    surrogates = {name: entry["surrogates"][name] for name in entry["surrogates"] if name in used or name not in unused}
    return {**entry, "samplers": samplers, "surrogates": surrogates}


def is_selected(config: Mapping[str, Any], name: str) -> bool:
    """Whether a run has a problem or an experiment: those that the key ``only`` names, or all if it names none."""
    return config["only"] is None or name in config["only"]


def _complaints(config: Mapping[str, Any]) -> Iterator[str]:
    yield from _data_complaints(config["data"])
    yield from _discard_complaint("iterations", config["iterations"])
    yield from _steps_complaints({**config, "problems": selected_problems(config)})
    fig3 = config["experiments"]["fig3"]
    if fig3["burn_in"] >= fig3["iterations"]:
        yield f"experiments.fig3.burn_in is {fig3['burn_in']}, which leaves none of the {fig3['iterations']} iterations"
    yield from _discard_complaint("experiments.fig2", config["experiments"]["fig2"])
    yield from _network_complaints(config["experiments"], config["problems"])
    known = config["problems"].keys() | config["experiments"].keys() | EXPERIMENTS_BESIDE
    for name in sorted(set(config["only"] or ()) - known):
        yield f"only: there is no problem or experiment {name!r}; there are {', '.join(sorted(known))}"
    for name, entry in config["problems"].items():
        for sampler in sorted(set(entry.get("without", ())) - entry["samplers"].keys()):
            yield f"problems.{name}.without names {sampler!r}; there are {', '.join(sorted(entry['samplers']))}"
    for name, problem in selected_problems(config).items():
        yield from _problem_complaints(f"problems.{name}", problem, config["iterations"])


def _data_complaints(data: Mapping[str, Any]) -> Iterator[str]:
    fetched, simulated, projected = (data[kind] for kind in ("fetched", "simulated", "projected"))
    for name in sorted((fetched.keys() & simulated.keys()) | ((fetched.keys() | simulated.keys()) & projected.keys())):
        yield f"data: {name} is defined twice, but its file can have only one definition"
    known = {**fetched, **simulated}
    for name, entry in projected.items():
        if entry["of"] not in known:
            yield f"data.projected.{name}.of is {entry['of']!r}; there are {', '.join(sorted(known))}"


def _problem_complaints(where: str, problem: Mapping[str, Any], shared: Mapping[str, int]) -> Iterator[str]:
    if "hmc" not in problem["samplers"] and problem["samplers"].keys() != {AUTO}:
        yield f"{where}.without names hmc, whose settings are those of the exploration"
    iterations = {**shared, **problem.get("iterations", {})}
    if "iterations" in problem:
        yield from _discard_complaint(f"{where}.iterations", iterations)
    kind = problem["target"]["kind"]
    if kind not in TARGETS:
        yield f"{where}.target.kind is {kind!r}; there are {', '.join(sorted(TARGETS))}"
    left = iterations["explore"] - iterations["discard"]
    for surrogate, settings in problem["surrogates"].items():
        if settings.get("states", 0) > left:
            yield f"{where}.surrogates.{surrogate}.states is {settings['states']}, but the exploration leaves {left}"
    for sampler, settings in problem["samplers"].items():
        if sampler != AUTO:
            yield from _surrogate_complaint(f"{where}.samplers.{sampler}", sampler, settings, problem["surrogates"])


def _discard_complaint(where: str, iterations: Mapping[str, int]) -> Iterator[str]:
    if iterations["discard"] >= iterations["explore"]:
        yield (
            f"{where}.discard is {iterations['discard']}, which leaves nothing of {where}.explore "
            f"({iterations['explore']}) to train on"
        )


def _network_complaints(experiments: Mapping[str, Any], problems: Mapping[str, Any]) -> Iterator[str]:
    banana = experiments["nng_fig2"]
    if banana["training"] >= banana["iterations"]:
        left = f"which leaves nothing of {banana['iterations']} iterations"
        yield f"experiments.nng_fig2.training is {banana['training']}, {left}"
    for name in ("nng_fig1", "nng_fig4", "nng_fig5"):
        if (problem := experiments[name]["problem"]) not in problems:
            yield f"experiments.{name}.problem is {problem!r}; there are {', '.join(sorted(problems))}"
    swapped = experiments["nng_fig4"]["problem"]
    kind = problems[swapped]["target"]["kind"] if swapped in problems else "logistic"
    if kind != "logistic":
        yield f"experiments.nng_fig4.problem is {swapped!r}, a {kind}; only a logistic one has a normal prior to swap"


def _steps_complaints(settings: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Complaints about ranges of leapfrog steps, wherever they are but in settings of data and targets."""
    for key, value in settings.items():
        if key == "n_steps" and value[0] > value[1]:
            yield f"{where}n_steps is {value}: the lowest number of steps exceeds the highest"
        if isinstance(value, Mapping) and key not in ("data", "target"):
            yield from _steps_complaints(value, f"{where}{key}.")


def _surrogate_complaint(
    where: str, sampler: str, settings: Mapping[str, Any], surrogates: Mapping[str, Any]
) -> Iterator[str]:
    needed = recipe(sampler).surrogate
    if needed is None:
        return
    chosen = settings["surrogate"]
    if chosen not in surrogates:
        yield f"{where}.surrogate is {chosen!r}, which is not among the problem's surrogates ({', '.join(surrogates)})"
    elif surrogates[chosen]["type"] != needed:
        yield f"{where}.surrogate is of type {surrogates[chosen]['type']!r}, but {sampler} is driven by a {needed!r}"
