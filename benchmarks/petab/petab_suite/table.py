"""The page of PEtab from its runs: python -m petab_suite.table --folder F --results R --references M --table T ..."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peers.judge import Verdict
from peers.table import write_runs
from peers.wording import count, seconds, spread
from petab_suite.problems import names
from petab_suite.results import NO_RESULT, OTHERS, WRONG, Problem, Said, problems
from petab_suite.texts import ACCURACY, HOW, MEASURES, how_it_was_run, packages
from suites.rows import LOST, OURS, Row, times

LABELS = {
    OURS: "rnshmc.sample",
    "adaptive_tempering": "adaptive parallel tempering",
    "adaptive_metropolis": "adaptive Metropolis",
}
AIM = 20.0
"""Times fewer simulations than the better of the others: the goal of the suite."""


@dataclass(frozen=True)
class LeftOut:
    """Problems that have no runs."""

    not_built: dict[str, str]
    """Why, by name."""
    not_run: tuple[str, ...]


def left_out(folder: Path, results: Path, run: Sequence[Problem]) -> LeftOut:
    """Problems of the folder that are not among those that were run."""
    there = {problem.name for problem in run}
    missing = [name for name in names(folder) if name not in there]
    files = {name: results / name / "built.json" for name in missing}
    reasons = {name: json.loads(file.read_text())["reason"] for name, file in files.items() if file.exists()}
    not_built = {name: reason for name, reason in reasons.items() if reason}
    return LeftOut(not_built, tuple(name for name in missing if name not in not_built))


def page(problems: Sequence[Problem], left_out: LeftOut, packages: Sequence[str]) -> str:
    """The page in Markdown."""
    rows = [problem.row for problem in problems if problem.row is not None]
    runs = [run for row in rows for of in row.runs.values() for run in of]
    lines = [
        "# Problems of PEtab",
        "",
        *_result(problems, rows),
        "",
        *MEASURES,
        "",
        "| problem | d | rnshmc.sample | tempering | Metropolis | better of the two / ours | time in simulations, ours "
        "| time in simulations, better of the two |",
        "|---|---|---|---|---|---|---|---|",
        *map(_line, rows),
        "",
        *_verdicts(problems),
        *_runs(rows),
        *_references(problems),
        *_left_out(left_out, rows),
        *how_it_was_run(runs, packages),
    ]
    return "\n".join(lines) + "\n"


def _result(problems: Sequence[Problem], rows: Sequence[Row]) -> list[str]:
    ratios = [row.ratio for row in rows if not np.isnan(row.ratio)]
    lost = [row.name for row in rows if row.lost]
    neither = [row.name for row in rows if np.isnan(row.ratio)]
    without = sum(problem.row is None for problem in problems)
    return [
        f"`rnshmc.sample` was run on {len(problems)} problems of the collection "
        "[Benchmark-Models-PEtab](https://github.com/Benchmarking-Initiative/Benchmark-Models-PEtab), with AMICI's "
        "gradients, and compared with pyPESTO's adaptive parallel tempering and adaptive Metropolis.",
        "",
        *_failed(problems),
        f"{len(rows)} problems have a reference. On {len(ratios)} of them, at least one sampler reaches the goal, the "
        "accuracy of 1000 independent draws. In the median of these, the better of the two other samplers "
        f"{_middle(ratios)}. On {sum(ratio >= AIM for ratio in ratios)} (our aim was 15 problems), it takes at least "
        f"{AIM:.0f} times as many simulations, or misses a goal that `rnshmc.sample` reaches. {_named(lost)}"
        + (f" No sampler reached the goal on {', '.join(neither)}." if neither else "")
        + (f" There is no reference for the other {without}." if without else ""),
        "",
        _rightly(problems),
    ]


def _failed(problems: Sequence[Problem]) -> list[str]:
    """The problems on which every result of ours is marked bad, in one paragraph."""
    bad = [one for one in problems if one.said and all(said.level == "bad" for said in one.said)]
    if not bad:
        return []
    said = [one for problem in bad for one in problem.said]
    errors = [error for one in said if not np.isnan(error := float(one.says.split()[-1]))]
    flat, failures = (
        sum(any(word in text for one in problem.said for text in one.findings) for problem in bad)
        for word in ("hardly depends", "evaluations failed")
    )
    return [
        f"**On {len(bad)} of {len(problems)} problems `rnshmc.sample` fails, and its verdict reports it:** "
        f"{', '.join(one.name for one in bad)}. No surrogate was good enough within the limits of units and seconds: "
        f"after {min(one.units for one in said)} to {max(one.units for one in said)} simulations sd(U - V) is "
        f"{min(errors, default=np.nan):.3g} or more. Do not use these results. On {flat} of the problems the density "
        f"hardly depends on some combination of parameters, and on {failures} simulations failed.",
        "",
    ]


def _middle(ratios: Sequence[float]) -> str:
    """The median, the lower one of two: a ratio that was seen, infinite where the others miss the goal."""
    if not ratios:
        return "cannot be compared with `rnshmc.sample`"
    middle = sorted(ratios)[(len(ratios) - 1) // 2]
    if np.isinf(middle):
        return "**misses the goal** that `rnshmc.sample` reaches"
    return f"takes **{count(middle)} times the simulations** of `rnshmc.sample`"


def _named(lost: Sequence[str]) -> str:
    much = f"{LOST} times the simulations of the better of the two"
    if not lost:
        return f"On none does `rnshmc.sample` take more than {much}, or miss a goal that one of them reaches."
    names = ", ".join(lost)
    return f"On {len(lost)} `rnshmc.sample` takes more than {much}, or misses a goal that one of them reaches: {names}."


def _rightly(problems: Sequence[Problem]) -> str:
    known = [said for problem in problems if problem.row is not None for said in problem.said]
    parts = []
    for level in ("good", "doubtful", "bad"):
        of = [said for said in known if said.level == level]
        parts.append(f"marked {level}: {len(of)}, of which {sum(said.right for said in of)} accurate")
    none = sum(said.level == NO_RESULT for said in known)
    counted = "; ".join([*parts, f"without a result: {none}"])
    return f"Verdicts of the {len(known)} runs of `rnshmc.sample` on problems with a reference: {counted}."


def _line(row: Row) -> str:
    best = min(OTHERS, key=row.units)
    cells = [
        row.name,
        str(row.dim),
        *(spread(row.runs[name], "units_goal") if row.runs[name] else "not run" for name in (OURS, *OTHERS)),
        times(row.ratio, "others"),
        _simulating(row.runs[OURS]),
        _simulating(row.runs[best]),
    ]
    return f"| {' | '.join(cells)} |"


def _simulating(runs: Sequence[Verdict]) -> str:
    """Seconds in simulations until the goal, median over seeds."""
    taken = sorted(run.units_goal * run.evaluation_s for run in runs)
    return seconds(taken[len(taken) // 2]) if taken and np.isfinite(taken[len(taken) // 2]) else "-"


def _runs(rows: Sequence[Row]) -> list[str]:
    """The result of each run of another sampler."""
    return [
        "## The other samplers",
        "",
        *ACCURACY,
        "",
        "| problem | sampler | simulations spent | accuracy, in draws | reports |",
        "|---|---|---|---|---|",
        *(_run(row.name, run) for row in rows for name in OTHERS for run in row.runs[name]),
        "",
    ]


def _run(name: str, run: Verdict) -> str:
    accuracy = f"{count(run.draws_mean)} / {count(run.draws_variance)}"
    cells = [name, LABELS[run.peer], count(run.units), accuracy, run.says.replace("|", "/")[:80]]
    return f"| {' | '.join(cells)} |"


def _verdicts(problems: Sequence[Problem]) -> list[str]:
    return [
        "## Verdicts",
        "",
        f"A result of `rnshmc.sample` is accurate if no mean and no variance is off by more than {WRONG:.0f} standard "
        "errors, its own and the reference's together. The column before the last has the largest of these errors.",
        "",
        "| problem | seed | units spent | verdict | worst, in standard errors | accurate |",
        "|---|---|---|---|---|---|",
        *(_said(problem, said) for problem in problems for said in problem.said),
        "",
        "Marked lines of the results that are not bad, of all seeds:",
        "",
        *(f"- {problem.name}: {found}" for problem in problems if (found := _findings(problem.said))),
        "",
    ]


def _said(problem: Problem, said: Said) -> str:
    accurate = "-" if np.isnan(said.worst) else "yes" if said.right else "no"
    cells = [problem.name, str(said.seed), count(said.units), said.says.replace("|", "/")[:80]]
    return f"| {' | '.join([*cells, '-' if np.isnan(said.worst) else f'{said.worst:.3g}', accurate])} |"


def _findings(said: Sequence[Said]) -> str:
    return " ".join(dict.fromkeys(text for one in said if one.level != "bad" for text in one.findings))


def _references(problems: Sequence[Problem]) -> list[str]:
    return [
        "## References",
        "",
        *HOW,
        "",
        "| problem | R-hat | draws for means | draws for variances | simulations | |",
        "|---|---|---|---|---|---|",
        *(_reference(problem) for problem in problems),
        "",
    ]


def _reference(problem: Problem) -> str:
    known = problem.reference
    if known is None:
        return f"| {problem.name} | - | - | - | - | not made |"
    cells = [f"{known.rhat:.3f}", *(f"{draws:.0f}" for draws in known.draws), count(known.simulations)]
    return f"| {' | '.join([problem.name, *cells, '' if known.converged else 'no reference'])} |"


def _left_out(left_out: LeftOut, rows: Sequence[Row]) -> list[str]:
    lines = [f"- {row.name}: no {label}" for row in rows for name, label in LABELS.items() if not row.runs[name]]
    lines += [f"- {name}: not built, {reason}" for name, reason in left_out.not_built.items()]
    lines += [f"- {name}: not run here" for name in left_out.not_run]
    return ["## Not run", "", *lines, ""] if lines else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("folder", "results", "references", "table", "page"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    arguments = parser.parse_args()
    made = problems(arguments.results, arguments.references)
    rows = [problem.row for problem in made if problem.row is not None]
    write_runs(arguments.table, [run for row in rows for runs in row.runs.values() for run in runs])
    absent = left_out(arguments.folder, arguments.results, made)
    arguments.page.write_text(page(made, absent, packages()))


if __name__ == "__main__":
    main()
