"""What a JSON schema cannot say about a configuration: how its keys have to fit together."""

from collections.abc import Iterator, Mapping
from typing import Any

from rnshmc.errors import ParameterError
from rnshmc.run.recipes import RECIPES
from rnshmc.run.registry import TARGETS


def check_config(config: Mapping[str, Any]) -> None:
    """Check a configuration that already satisfies the schema.

    Raises
    ------
    ParameterError
        If keys contradict each other; the message names each of them.
    """
    complaints = list(_complaints(config))
    if complaints:
        raise ParameterError("configuration: " + "; ".join(complaints))


def _complaints(config: Mapping[str, Any]) -> Iterator[str]:
    iterations = config["iterations"]
    if iterations["discard"] >= iterations["explore"]:
        yield (
            f"iterations.discard is {iterations['discard']}, which leaves nothing of iterations.explore "
            f"({iterations['explore']}) to train on"
        )
    yield from _steps_complaint("reference", config["reference"])
    yield from _steps_complaint("sweeps", config["sweeps"])
    fig3 = config["experiments"]["fig3"]
    yield from _steps_complaint("experiments.fig3", fig3)
    if fig3["burn_in"] >= fig3["iterations"]:
        yield f"experiments.fig3.burn_in is {fig3['burn_in']}, which leaves nothing of {fig3['iterations']} iterations"
    for name, problem in config["problems"].items():
        kind = problem["target"]["kind"]
        if kind not in TARGETS:
            yield f"problems.{name}.target.kind is {kind!r}; there are {', '.join(sorted(TARGETS))}"
        for surrogate, settings in problem["surrogates"].items():
            left = iterations["explore"] - iterations["discard"]
            if settings.get("states", 0) > left:
                where = f"problems.{name}.surrogates.{surrogate}"
                yield f"{where}.states is {settings['states']}, but the exploration leaves {left}"
        for sampler, settings in problem["samplers"].items():
            where = f"problems.{name}.samplers.{sampler}"
            yield from _steps_complaint(where, settings)
            yield from _surrogate_complaint(where, sampler, settings, problem["surrogates"])


def _steps_complaint(where: str, settings: Mapping[str, Any]) -> Iterator[str]:
    low, high = settings["n_steps"]
    if low > high:
        yield f"{where}.n_steps is [{low}, {high}]: the lowest number of steps exceeds the highest"


def _surrogate_complaint(
    where: str, sampler: str, settings: Mapping[str, Any], surrogates: Mapping[str, Any]
) -> Iterator[str]:
    needed = RECIPES[sampler].surrogate
    if needed is None:
        return
    chosen = settings["surrogate"]
    if chosen not in surrogates:
        yield f"{where}.surrogate is {chosen!r}, which is not among the problem's surrogates ({', '.join(surrogates)})"
    elif surrogates[chosen]["type"] != needed:
        yield f"{where}.surrogate is of type {surrogates[chosen]['type']!r}, but {sampler} is driven by a {needed!r}"
