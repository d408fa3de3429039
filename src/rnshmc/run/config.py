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
    for name, problem in config["problems"].items():
        kind = problem["target"]["kind"]
        if kind not in TARGETS:
            yield f"problems.{name}.target.kind is {kind!r}; there are {', '.join(sorted(TARGETS))}"
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
