"""Tables of a paper with our numbers and the printed ones side by side, as docs/RESULTS.md has them."""

from collections.abc import Mapping

import pandas as pd

from rnshmc.report.table_text import with_error
from rnshmc.results.names import sampler_label

SIZES = ("ess_min", "ess_median", "ess_max")


def beside_printed(card: pd.DataFrame, problems: Mapping[str, str]) -> pd.DataFrame:
    """Acceptance, effective sample sizes and speed-up of each sampler, ours with the printed one in brackets.

    Parameters
    ----------
    card
        From `rnshmc.scorecard.card.scorecard`, of one paper.
    problems
        The title of each problem, by the first words of its items in the scorecard, such as ``table5/news``.

    Returns
    -------
    A table of texts with a row for each sampler whose acceptance is printed; the first of a problem has its title.
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
                }
            )
    return pd.DataFrame(rows)


def _sizes(of: "pd.Series[float]") -> str:
    return ", ".join(f"{of[name]:.0f}" for name in SIZES)


def _speedup(of: pd.DataFrame) -> str:
    """1, by definition, has neither decimals nor an error."""
    ours, error = float(of["ours"]["speedup"]), float(of["ours_se"]["speedup"])
    return "1" if ours == 1 else with_error(ours, error)
