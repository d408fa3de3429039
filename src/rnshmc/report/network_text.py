"""Results of paper B as text: our numbers and the printed ones, settings, and summary sentences."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from rnshmc.plots.style import STAND_IN
from rnshmc.report.driver_text import driver_text
from rnshmc.report.escaping import in_markdown
from rnshmc.report.sections import Row, Section
from rnshmc.report.table_text import Number, fixed, means_text, significant
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import Titles, sampler_label
from rnshmc.scorecard.published import Published


def reading(section: Section) -> str:
    """Our results on a problem and the paper's, as an item of a Markdown list."""
    parts = [_reading(row) for row in section.rows]
    return f"- {in_markdown(section.title)}: {'; '.join(parts)}."


def settings_table(table: pd.DataFrame, problems: Mapping[str, Mapping[str, Any]], titles: Titles) -> pd.DataFrame:
    """How each sampler in a view of the results was run, as a table of texts.

    `problems` has the ``samplers`` and ``surrogates`` of each problem, as in the config.
    """
    rows = []
    for row in table[table["problem"].isin(list(problems))].to_dict("records"):
        entry = problems[row["problem"]]
        settings = entry["samplers"][row["sampler"]]
        rows.append(
            {
                "problem": titles[row["problem"]],
                "sampler": sampler_label(row["sampler"]),
                **_dynamics(settings, entry["surrogates"].get(settings.get("surrogate"))),
                "training draws": fixed(0)(row["training_draws"]),
                "kept draws": f"{row['chains']} × {row['draws']}",
            }
        )
    return pd.DataFrame(rows)


def _dynamics(settings: Mapping[str, Any], surrogate: Mapping[str, Any] | None) -> dict[str, str]:
    """How trajectories are made; `rnshmc.sample` has settings of its own."""
    if "n_steps" not in settings:
        return {"step size": "–", "leapfrog steps": "–", "driven by": "a kernel surrogate"}
    low, high = settings["n_steps"]
    return {
        "step size": f"{settings['step_size']:g}",
        "leapfrog steps": f"{low} to {high}" if low < high else f"{low}",
        "driven by": driver_text(settings, surrogate),
    }


def readable_agreement(agreement: pd.DataFrame, titles: Titles) -> pd.DataFrame:
    """The table of agreement with HMC (`rnshmc.results.agreement.agreement_table`) as text."""
    return pd.DataFrame(
        {
            "problem": agreement["problem"].map(titles),
            "sampler": agreement["sampler"].map(sampler_label),
            "max |z|": agreement["max_abs_z"].map(fixed(2)),
            "threshold": agreement["threshold"].map(fixed(2)),
            "means": [
                means_text(agrees, mixed=bool(mixed))
                for agrees, mixed in zip(agreement["agrees"], agreement["mixed"], strict=True)
            ],
            "distance of means (HMC's sd)": agreement["shift"].map(significant),
            "factor between sds": agreement["spread"].map(significant),
            "data": agreement["data"],
        }
    )


def readable_process_table(table: pd.DataFrame, numbers: Sequence[Published]) -> pd.DataFrame:
    """Table 4 as text: mean acceptance by sampler, dimension and size of the training set, the paper's in brackets.

    `table` has the columns method, d, size and acceptance, a row for each repeat.
    """
    keys = ["method", "d", "size"]
    printed = {tuple(map(number.arguments.get, keys)): number.printed for number in numbers}
    means = table[table["size"] > 0].groupby(keys)["acceptance"].mean().reset_index()
    texts = {}
    for method, d, size, mean in means.itertuples(index=False):
        beside = f" [{printed[method, d, size]:.2f}]" if (method, d, size) in printed else ""
        texts[sampler_label(method), f"{d} dimensions", f"{size} points"] = f"{mean:.2f}{beside}"
    return pd.Series(texts).unstack(sort=False)


def stand_in_warning(table: pd.DataFrame, titles: Titles) -> str:
    """A Markdown warning that names the problems of a table whose data are stand-ins; empty if there are none."""
    names = [in_markdown(titles[problem]) for problem in table.loc[table["data"] == STAND_IN, "problem"].unique()]
    if not names:
        return ""
    return f"\n\n> **Stand-in data:** {', '.join(names)}. Their numbers say nothing about the real posteriors."


def _reading(row: Row) -> str:
    """A sampler in a sentence: acceptance, and the speed-up that the paper prints, or the one of the draws alone, if it
    is known."""
    text = f"{row.sampler} accepts {_beside(row.numbers['ap'])}"
    if row.sampler == sampler_label(BASELINE):
        return text
    if (trained := row.numbers["total_speedup"]).paper and trained.ours != significant(math.nan):
        return f"{text} and yields × {_beside(trained, '× ')} with its training"
    speedup = row.numbers["speedup"]
    return text if speedup.ours == significant(math.nan) else f"{text} and yields × {_beside(speedup, '× ')}"


def _beside(number: Number, sign: str = "") -> str:
    return f"{number.ours} (paper: {sign}{number.paper})" if number.paper else number.ours
