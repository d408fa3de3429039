"""Settings of a run that are not those of the papers' run: numbers that rest on them are not judged."""

from collections.abc import Iterator, Mapping
from typing import Any

from rnshmc.scorecard.published import Published

LENGTHS = frozenset(
    {"explore", "keep", "iterations", "sizes", "hidden_units", "inducing_points", "training_points", "d"}
)
"""Settings of which more is as good: the length of a run and the size of its surrogates."""
REPEATED = frozenset({"chains", "repeats", "runs", "fits", "block_iterations", "drawn", "surrogate"})
"""Settings that change no number but its standard error, or only a drawing; the name of a surrogate."""

OtherSettings = Mapping[str, str]
"""Why numbers are not judged, by what they rest on: ``bank/hmc``, a sampler on a problem, ``fig3``, an experiment, or
``fig3/gp_hmc``, a surrogate there."""


def other_settings(config: Mapping[str, Any], papers: Mapping[str, Any]) -> dict[str, str]:
    """The first setting of each part of a run that is not that of the papers' run."""
    ours, theirs = dict(_parts(config)), dict(_parts(papers))
    shared = sorted(ours.keys() & theirs.keys())
    found = {name: _first_other(dict(_leaves(ours[name])), dict(_leaves(theirs[name]))) for name in shared}
    return {name: text for name, text in found.items() if text}


def reason_not_to_judge(number: Published, others: OtherSettings) -> str:
    """Why a number is not judged: a part of the run that it rests on and that has other settings, or nothing."""
    return next((others[name] for name in _rests_on(number) if name in others), "")


def _parts(config: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The settings of each sampler on each problem and of each experiment, by the names of `OtherSettings`."""
    lasting = {
        name: {**config["iterations"], **each.get("iterations", {})} for name, each in config["problems"].items()
    }
    for name, problem in config["problems"].items():
        for sampler, settings in problem["samplers"].items():
            surrogate = problem["surrogates"].get(settings.get("surrogate"), {})
            yield f"{name}/{sampler}", {**lasting[name], **surrogate, **settings}
    for name, settings in config["experiments"].items():
        # An experiment on the exploration of a problem is as long as that.
        of_problem = lasting.get(settings.get("problem"), {})
        of_all = {key: value for key, value in settings.items() if key != "surrogates"}
        yield name, {"explore": of_problem["explore"], **of_all} if of_problem else of_all
        yield from ((f"{name}/{sampler}", each) for sampler, each in settings.get("surrogates", {}).items())
    shared = {key: value for key, value in config["sweeps"].items() if key not in ("fig4", "fig5")}
    for name in ("fig4", "fig5"):
        yield name, {**shared, **config["sweeps"][name]}


def _leaves(settings: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings by their keys, without `REPEATED`; of several lengths the largest."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{where}{key}.")
        elif key not in REPEATED:
            yield f"{where}{key}", max(value) if key in LENGTHS and isinstance(value, list) else value


def _first_other(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    for key in dict.fromkeys((*theirs, *ours)):
        mine, printed = ours.get(key), theirs.get(key)
        if key.split(".")[-1] in LENGTHS and mine is not None and printed is not None and mine >= printed:
            continue
        if mine != printed:
            return f"{key} is {_shown(mine)}, not {_shown(printed)}"
    return ""


def _shown(value: Any) -> str:
    return "unset" if value is None else str(value)


def _rests_on(number: Published) -> Iterator[str]:
    """Names of `OtherSettings`: samplers on the number's problem, and the experiment whose table it is measured on."""
    arguments = number.arguments
    named = (arguments.get(key, ()) for key in ("sampler", "method", "other", "name", "switch"))
    samplers = [number.sampler, number.relative_to, *(str(word) for word in named if word)]
    words = str(arguments.get("table", "")).split("_")
    tables = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
    yield from tables
    yield from (f"{part}/{sampler}" for part in (number.problem, *tables) for sampler in samplers)
