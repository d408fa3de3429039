"""What of a run is shorter than in the run of the papers: numbers that rest on it are not judged."""

from collections.abc import Iterator, Mapping
from typing import Any

from rnshmc.scorecard.published import Published

LENGTHS = frozenset(
    {"explore", "keep", "iterations", "sizes", "hidden_units", "inducing_points", "training_points", "d"}
)
"""Settings that make a run shorter or its surrogates smaller. Numbers of repeats do not count: errors tell of them."""

Shorter = Mapping[str, str]
"""Why numbers are not judged, by what they rest on: ``bank/hmc``, a sampler on a problem, or an experiment's name."""


def shorter(config: Mapping[str, Any], papers: Mapping[str, Any]) -> dict[str, str]:
    """What of a run is shorter than in the run of the papers.

    Parameters
    ----------
    config, papers
        The configurations of the run and of the papers' run, as in ``config/config.yaml``.
    """
    ours, theirs = dict(_parts(config)), dict(_parts(papers))
    found = {name: _first_shorter(_lengths(ours[name]), _lengths(theirs[name])) for name in ours.keys() & theirs.keys()}
    return {name: text for name, text in sorted(found.items()) if text}


def reason_not_to_judge(number: Published, parts: Shorter) -> str:
    """Why a number is not judged: the first part of the run that it rests on and that is shorter; empty if none is."""
    return next((parts[name] for name in _rests_on(number) if name in parts), "")


def _parts(config: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The settings of each sampler on each problem and of each experiment, by the names of `Shorter`."""
    lasting = {
        name: {**config["iterations"], **each.get("iterations", {})} for name, each in config["problems"].items()
    }
    for name, problem in config["problems"].items():
        iterations = lasting[name]
        for sampler, settings in problem["samplers"].items():
            surrogate = problem["surrogates"].get(settings.get("surrogate"), {})
            yield f"{name}/{sampler}", {**iterations, "keep": settings.get("keep", iterations["keep"]), **surrogate}
    for name, settings in config["experiments"].items():
        # An experiment on the exploration of a problem is as long as that.
        of_problem = lasting.get(settings.get("problem"), {})
        yield name, {"explore": of_problem["explore"], **settings} if of_problem else settings
    shared = {key: value for key, value in config["sweeps"].items() if key not in ("fig4", "fig5")}
    for name in ("fig4", "fig5"):
        yield name, {**shared, **config["sweeps"][name]}


def _lengths(settings: Mapping[str, Any], where: str = "") -> dict[str, float]:
    """The lengths among nested settings by their keys; of several values the largest."""
    found: dict[str, float] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found |= _lengths(value, f"{where}{key}.")
        elif key in LENGTHS:
            found[f"{where}{key}"] = max(value) if isinstance(value, list) else value
    return found


def _first_shorter(ours: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    return next(
        (f"{key} is {ours[key]:g}, not {length:g}" for key, length in theirs.items() if ours.get(key, length) < length),
        "",
    )


def _rests_on(number: Published) -> Iterator[str]:
    """Names of `Shorter`: samplers on the number's problems, and the experiment whose table it is measured on."""
    arguments = number.arguments
    problems = _words(arguments.get("problems", number.problem))
    named = (arguments.get(key, ()) for key in ("sampler", "samplers", "other", "others", "name", "switch"))
    samplers = [number.sampler, number.relative_to, *(word for words in named for word in _words(words))]
    yield from (f"{problem}/{sampler}" for problem in problems for sampler in samplers)
    words = str(arguments.get("table", "")).split("_")
    yield from ("_".join(words[:count]) for count in range(len(words), 0, -1))


def _words(value: object) -> list[str]:
    return [str(word) for word in value] if isinstance(value, tuple) else [str(value)]
