"""Tables of docs/RESULTS.md: our numbers beside the printed ones."""

from collections.abc import Mapping

import pandas as pd

from rnshmc.report.table_text import with_error
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import sampler_label

SIZES = ("ess_min", "ess_median", "ess_max")


def beside_printed(
    card: pd.DataFrame, problems: Mapping[str, str], lean: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Acceptance, effective sample sizes and speed-up of each sampler, ours with the printed one in brackets, as text.

    A row for each sampler of the scorecard of one paper whose acceptance is printed; the first of a problem has its
    title. `problems` has the titles by the first words of the items, such as ``table5/news``; `lean` the speed-ups that
    are shown beside the compared ones (`lean_speedups`).
    """
    rows = []
    for problem, title in problems.items():
        items = card.loc[card["item"].str.startswith(f"{problem}/") & (card["quantity"] == "ap"), "item"]
        for place, item in enumerate(items):
            of = card[card["item"] == item].set_index("quantity")
            rows.append(
                {
                    "problem": "" if place else title,
                    "sampler": sampler_label(item.rsplit("/", 1)[1]),
                    "acceptance": f"{of.at['ap', 'ours']:.3f} [{of.at['ap', 'printed']:.2f}]",
                    "ESS: minimum, median, maximum": f"{_sizes(of['ours'])} [{_sizes(of['printed'])}]",
                    "speed-up": f"{_speedup(of)} [{of.at['speedup', 'printed']:g}]",
                    **({} if lean is None else {"one gradient a step": lean[item]}),
                }
            )
    return pd.DataFrame(rows)


def _sizes(of: "pd.Series[float]") -> str:
    return ", ".join(f"{of[name]:.0f}" for name in SIZES)


def _speedup(of: pd.DataFrame) -> str:
    """1, by definition, has neither decimals nor an error."""
    ours, error = float(of["ours"]["speedup"]), float(of["ours_se"]["speedup"])
    return "1" if ours == 1 else with_error(ours, error)


def lean_speedups(table: pd.DataFrame, errors: pd.DataFrame) -> dict[str, str]:
    """Speed-ups where no sampler evaluates a gradient twice, by the items of Table 1 of paper A in the scorecard.

    `table` and `errors` are paper A's Table 1 of a run and its standard errors, with the column ``speedup``.
    """
    return {
        f"table1/{row['problem']}/{row['sampler']}": "1"
        if row["sampler"] == BASELINE
        else with_error(row["speedup"], error)
        for row, error in zip(table.to_dict("records"), errors["speedup"], strict=True)
    }


def counted(table: pd.DataFrame, problems: Mapping[str, str]) -> pd.DataFrame:
    """Efficiency by counts, which depend on no machine: minimum effective sample sizes per exact evaluation, as text.

    `table` is paper A's Table 1 of a run, `problems` has the title of each problem by its name there.
    """
    rows = []
    for problem, title in problems.items():
        each = table[table["problem"] == problem].set_index("sampler")["min_ess_per_value"]
        rows.append(
            {
                "problem": title,
                **{sampler_label(name): f"{each[name]:.3g}" for name in ("hmc", "rns_hmc", "rns_rmhmc")},
                "RNS-HMC over HMC": f"{each['rns_hmc'] / each['hmc']:.2g}",
            }
        )
    return pd.DataFrame(rows)


def grid_beside_printed(card: pd.DataFrame, item: str) -> pd.DataFrame:
    """Acceptance of each method by dimension and number of training points, ours with the printed one in brackets, as
    text.

    The scorecard is of one paper; `item` is the first word of the items, with quantities
    ``ap_d<dimensions>_n<points>``.
    """
    of = card[card["item"].str.startswith(f"{item}/")]
    cells = of.assign(
        method=of["item"].str.split("/").str[-1].map(sampler_label),
        d=of["quantity"].str.extract(r"_d(\d+)_", expand=False).astype(int),
        points=of["quantity"].str.extract(r"_n(\d+)$", expand=False).astype(int),
        text=[f"{ours:.2f} [{printed:.2f}]" for ours, printed in zip(of["ours"], of["printed"], strict=True)],
    )
    grid = cells.pivot(index=["method", "d"], columns="points", values="text")
    return grid.rename(columns=lambda points: f"{points} points").rename_axis(columns=None).reset_index()
