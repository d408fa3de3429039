"""Paper B's results as people read them: ours beside the printed numbers, what was set, and sentences about both."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.report.driver_text import driver_text
from rnshmc.report.table_text import Number, fixed, significant
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.entries import PAPER_B
from rnshmc.scorecard.network_entries import COUNTS_TRAINING

UNCORRECTED = "sghmc"
"""The recipe without a Metropolis step: its draws are of another distribution, and their number says little."""
_STAND_IN = "stand-in"
_ESS = tuple(f"ess_{part}" for part in ("min", "median", "max"))


@dataclass(frozen=True)
class NetworkRow:
    """A sampler's row in short: a printed speed-up stands where the paper counts it, with the training or without."""

    sampler: str
    ap: Number
    speedup: Number
    """Median ESS per second relative to HMC, of the draws alone."""
    total_speedup: Number
    """The same with what the network was trained on, and its training."""
    loaded: bool


@dataclass(frozen=True)
class NetworkSection:
    """A problem of paper B in short."""

    problem: str
    title: str
    origin: str
    draws: int
    """Kept draws of each chain: of the sampler with the fewest."""
    rows: tuple[NetworkRow, ...]

    @property
    def stand_in(self) -> bool:
        """Whether the data are a stand-in."""
        return self.origin == _STAND_IN


def network_sections(
    table: pd.DataFrame, errors: pd.DataFrame, card: pd.DataFrame, titles: Mapping[str, str]
) -> list[NetworkSection]:
    """The problems of paper B with acceptance and speed-ups as text, samplers without a Metropolis step left out.

    Parameters
    ----------
    table, errors
        From `rnshmc.results.views`, of the results and of their standard errors.
    card
        From `rnshmc.scorecard.card.scorecard`, which has the printed numbers.
    titles
        Title of each problem.
    """
    kept = table["recipe"] != UNCORRECTED
    return [
        NetworkSection(
            problem=problem,
            title=titles[problem],
            origin=str(table.loc[table["problem"] == problem, "data"].iloc[0]),
            draws=int(table.loc[table["problem"] == problem, "draws"].min()),
            rows=tuple(
                _row(table.loc[index], errors.loc[index], _printed(card, problem, str(table.at[index, "sampler"])))
                for index in table.index[kept & (table["problem"] == problem)]
            ),
        )
        for problem in dict.fromkeys(table["problem"])
    ]


def reading(section: NetworkSection) -> str:
    """What came out on a problem, ours beside the paper's, as an item of a Markdown list."""
    parts = [_reading(row) for row in section.rows]
    return f"- {section.title}: {'; '.join(parts)}."


def ess_sentence(card: pd.DataFrame) -> str:
    """Which definition of the effective sample size is nearer to the printed numbers, in a sentence.

    Parameters
    ----------
    card
        Rows of the scorecard, of which those are used that compare effective sample sizes of paper B.
    """
    geyer, truncated = (_distances(card, prefix) for prefix in ("", "truncated_"))
    both = geyer.index.intersection(truncated.index)
    if both.empty:
        return "No effective sample size of this page can be compared with the paper's."
    nearer = int((truncated[both] < geyer[both]).sum())
    medians = [float(found[both].median()) for found in (geyer, truncated)]
    better = "truncated sums agree" if medians[1] < medians[0] else "Geyer's estimator agrees"
    factors = [significant(math.exp(median)) for median in medians]
    return (
        f"Of {len(both)} printed effective sample sizes, {nearer} are nearer to ours by the truncated sums of the "
        f"published implementation than by Geyer's estimator. Half of them are within a factor {factors[0]} of ours by "
        f"Geyer's and {factors[1]} by truncated sums: {better} better with the paper."
    )


def settings_table(
    table: pd.DataFrame, problems: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str]
) -> pd.DataFrame:
    """How each sampler was run, as a table of texts.

    Parameters
    ----------
    table
        From `rnshmc.results.views`.
    problems
        ``samplers`` and ``surrogates`` of each problem, as in the config.
    titles
        Title of each problem.
    """
    rows = []
    for row in table[table["problem"].isin(list(problems))].to_dict("records"):
        entry = problems[row["problem"]]
        settings = entry["samplers"][row["sampler"]]
        low, high = settings["n_steps"]
        rows.append(
            {
                "problem": titles[row["problem"]],
                "sampler": sampler_label(row["sampler"]),
                "step size": f"{settings['step_size']:g}",
                "leapfrog steps": f"{low} to {high}" if low < high else f"{low}",
                "driven by": driver_text(settings, entry["surrogates"].get(settings.get("surrogate"))),
                "training draws": fixed(0)(row["training_draws"]),
                "kept draws": f"{row['chains']} × {row['draws']}",
            }
        )
    return pd.DataFrame(rows)


def readable_agreement(agreement: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Each sampler's posterior beside that of HMC as a table of texts.

    Parameters
    ----------
    agreement
        From `rnshmc.results.agreement.agreement_table`.
    titles
        Title of each problem.
    """
    return pd.DataFrame(
        {
            "problem": agreement["problem"].map(titles),
            "sampler": agreement["sampler"].map(sampler_label),
            "max |z|": agreement["max_abs_z"].map(fixed(2)),
            "threshold": agreement["threshold"].map(fixed(2)),
            "means": agreement["agrees"].map({True: "agree", False: "differ"}).fillna("too few draws"),
            "distance of means (HMC's sd)": agreement["shift"].map(significant),
            "factor between sds": agreement["spread"].map(significant),
            "data": agreement["data"],
        }
    )


def readable_process_table(table: pd.DataFrame, card: pd.DataFrame) -> pd.DataFrame:
    """Table 4 as text: mean acceptance by sampler, dimension and size of the training set, the paper's in brackets.

    Parameters
    ----------
    table
        Columns method, d, size and acceptance: a row for each repeat.
    card
        From `rnshmc.scorecard.card.scorecard`, which has the printed numbers.
    """
    printed = card.set_index("item")["paper"]
    means = table[table["size"] > 0].groupby(["method", "d", "size"])["acceptance"].mean().reset_index()
    texts = {}
    for row in means.to_dict("records"):
        item = f"{PAPER_B}table4/d{row['d']}/n{row['size']}/{row['method']}"
        beside = f" [{printed[item]:.2f}]" if item in printed.index else ""
        key = sampler_label(row["method"]), f"{row['d']} dimensions", f"{row['size']} points"
        texts[key] = f"{row['acceptance']:.2f}{beside}"
    index = pd.MultiIndex.from_tuples(texts)
    return pd.Series(list(texts.values()), index=index).unstack(sort=False)


def stand_in_warning(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """A Markdown warning that names the problems of a table whose data are stand-ins; empty if there are none."""
    names = [titles[problem] for problem in table.loc[table["data"] == _STAND_IN, "problem"].unique()]
    if not names:
        return ""
    return f"\n\n> **Stand-in data:** {', '.join(names)}. Their numbers say nothing about the real posteriors."


def _distances(card: pd.DataFrame, prefix: str) -> "pd.Series[float]":
    """|log(ours / paper)| of each effective sample size by one definition, by item and part."""
    names = {f"{prefix}{name}": name for name in _ESS}
    compared = (card["verdict"] != "not comparable") & (card["ratio"] > 0)
    rows = card[card["item"].str.startswith(PAPER_B) & compared & card["quantity"].isin(list(names))]
    index = pd.MultiIndex.from_arrays([rows["item"], rows["quantity"].map(names)])
    return pd.Series(np.abs(np.log(rows["ratio"].to_numpy(dtype=float))), index=index)


def _reading(row: NetworkRow) -> str:
    """A sampler in a sentence: acceptance, and the speed-up that the paper prints, or the one of the draws alone."""
    text = f"{row.sampler} accepts {_beside(row.ap)}"
    if row.sampler == sampler_label(BASELINE):
        return text
    if row.total_speedup.paper:
        return f"{text} and yields × {_beside(row.total_speedup, '× ')} with its training"
    return f"{text} and yields × {_beside(row.speedup, '× ')}"


def _beside(number: Number, sign: str = "") -> str:
    return f"{number.ours} (paper: {sign}{number.paper})" if number.paper else number.ours


def _row(ours: "pd.Series[Any]", errors: "pd.Series[Any]", printed: Mapping[str, str]) -> NetworkRow:
    name = str(ours["sampler"])

    def number(column: str, text: str) -> Number:
        error = errors[column]
        shown = "" if pd.isna(error) or error == 0 else f"± {significant(error, 2)}"
        return Number(text, shown, printed.get(column, ""))

    return NetworkRow(
        sampler=sampler_label(name),
        ap=number("ap", fixed(2)(ours["ap"])),
        speedup=number("speedup", significant(ours["speedup"])),
        total_speedup=number("total_speedup", significant(ours["total_speedup"])),
        loaded=bool(ours["loaded"]),
    )


def _printed(card: pd.DataFrame, problem: str, sampler: str) -> dict[str, str]:
    """What the paper prints of a row in a table or, of 200 dimensions, in its text: by our columns."""
    rows = card[card["item"].str.fullmatch(rf"{PAPER_B}table\d/{problem}/{sampler}")]
    columns = {"ap": "ap", "speedup": "speedup"}
    if not rows.empty and rows["item"].iloc[0].startswith(f"{PAPER_B}table{COUNTS_TRAINING}/"):
        columns["speedup"] = "total_speedup"
    elif problem == "lr_200":
        rows = card[card["item"] == f"{PAPER_B}section4.2"]
        columns = {f"acceptance_{sampler}": "ap", **({} if sampler == BASELINE else {"speedup": "speedup"})}
    chosen = rows[rows["quantity"].isin(list(columns))]
    return {columns[name]: f"{value:g}" for name, value in zip(chosen["quantity"], chosen["paper"], strict=True)}
