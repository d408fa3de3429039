"""posteriordb's posteriors, through their Stan code: a section of the page, by the runs of their own workflow."""

from collections.abc import Sequence

from peers.judge import Verdict
from peers.wording import count, median, seconds, spread

SAMPLERS = ("rnshmc", "nutpie_low_rank", "stan_nuts")


def stan_programs(runs: Sequence[Verdict], command: str) -> str:
    """The section: a row for each posterior; empty without runs."""
    if not runs:
        return ""
    lines = [
        "## posteriordb, through its Stan code",
        "",
        "The table has median units until the accuracy of 1000 draws, with the largest in parentheses, with gradients. "
        "[posteriordb](posteriordb.md) has the figure, the dimensions and how it was run. The command makes these rows "
        "and that page; `folder` is a clone of posteriordb:",
        "",
        f"    {command} --config folder=../posteriordb",
        "",
        "| posterior | `rnshmc.sample` | nutpie, low rank | Stan's NUTS | overhead | good | rightly |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in sorted({run.problem for run in runs}):
        groups = [[run for run in runs if (run.problem, run.peer) == (name, peer)] for peer in SAMPLERS]
        ours = groups[0]
        good = [run for run in ours if run.says_good]
        cells = [
            name,
            *(spread(group, "units_goal") if group else "not run" for group in groups),
            seconds(median(ours, "overhead_s")),
            f"{count(len(good))} of {count(len(ours))}",
            f"{sum(run.honest for run in good)} of {len(good)}" if good else "-",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
