"""Every number that the papers print beside ours, with a verdict by a stated rule (`rnshmc.scorecard.rules`)."""

import math
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd

from rnshmc.errors import DataError
from rnshmc.results.estimates import BASELINE, Estimate
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.entries import PAPER_B, Entry
from rnshmc.scorecard.measured import OTHER_DATA, Measured, Tables
from rnshmc.scorecard.measures import measure
from rnshmc.scorecard.network_entries import PAPER_B_CHAINS, network_entries
from rnshmc.scorecard.rules import Rule, table1_rule

SCORECARD_COLUMNS = ("item", "quantity", "paper", "ours", "ours_se", "ratio", "verdict", "note")
CLAIM_COLUMNS = ("item", "quantity", "paper", "rule", "bound", "where", "statement")
REASON_COLUMNS = ("item", "quantity", "side", "reason")
TABLE1_QUANTITIES = ("ap", "ess_min", "ess_median", "ess_max", "s_per_iter", "min_ess_per_s", "speedup")
PAPER_CHAINS = 5
PAPER_DRAWS = 5000
"""Chains, and kept draws of each, behind a row of paper A's table."""

NOT_RUN = "not run"
UNEXPLAINED = "unexplained"


def scorecard(
    tables: Tables,
    published: pd.DataFrame,
    network_published: pd.DataFrame,
    claims: pd.DataFrame,
    reasons: pd.DataFrame,
) -> pd.DataFrame:
    """The scorecard of a run: first paper A, then paper B; of each, the cells of its tables, then its statements.

    `ours_se` is the Monte Carlo standard error over chains or repeats (of seconds, over blocks); effective sample sizes
    are scaled to the kept draws of the paper; `ratio` is ours over the paper's, NaN where that is zero.

    Parameters
    ----------
    tables
        The tables of a run by the names of their files: table1, table1_se, fig1, .... What is missing was not run.
    published
        The published Table 1 of paper A, in the columns of ours.
    network_published
        The published tables of paper B, from `rnshmc.scorecard.network_entries.read_network_tables`.
    claims
        Columns `CLAIM_COLUMNS`, from `read_claims`.
    reasons
        Columns `REASON_COLUMNS`, from `read_reasons`: why a number differs.

    Raises
    ------
    ParameterError
        If a claim has an unknown rule.
    StoreError
        If a table of the run lacks a column.
    """
    of_b = claims["item"].str.startswith(PAPER_B)
    entries = [
        *_table1_entries(tables, published),
        *_claim_entries(tables, claims[~of_b], PAPER_CHAINS),
        *network_entries(tables, network_published),
        *_claim_entries(tables, claims[of_b], PAPER_B_CHAINS),
    ]
    return pd.DataFrame([_row(entry, reasons) for entry in entries], columns=list(SCORECARD_COLUMNS))


def verdict_counts(card: pd.DataFrame) -> dict[str, int]:
    """How many numbers were reproduced, differ, differ without a reason (of those), and cannot be compared."""
    verdicts = card["verdict"]
    return {
        "reproduced": int((verdicts == "reproduced").sum()),
        "differs": int((verdicts == "differs").sum()),
        UNEXPLAINED: int(card["note"].str.startswith(UNEXPLAINED).sum()),
        "not comparable": int((verdicts == "not comparable").sum()),
    }


def read_claims(path: Path) -> pd.DataFrame:
    """Read the statements of the papers: what each says, where, and the rule that compares it."""
    return _read(path, CLAIM_COLUMNS)


def read_reasons(path: Path) -> pd.DataFrame:
    """Read why numbers differ.

    `item` and `quantity` may be patterns (``table1/*/rns_hmc``); the first reason that fits counts. It explains one
    side: ``lower`` or ``higher`` than the paper, or, where `side` is empty, both.
    """
    return _read(path, REASON_COLUMNS)


def _read(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    """A CSV file with exactly these columns; what is empty is an empty string, or NaN in a column of numbers."""
    table = pd.read_csv(path)
    if tuple(table.columns) != columns:
        raise DataError(f"{path}: expected the columns {', '.join(columns)}, got {', '.join(map(str, table.columns))}")
    texts = [name for name in columns if name not in ("paper", "bound")]
    return table.assign(**{name: table[name].fillna("").astype(str) for name in texts})


def _table1_entries(tables: Tables, published: pd.DataFrame) -> Iterator[Entry]:
    for row in published.to_dict("records"):
        problem, sampler = str(row["problem"]), str(row["sampler"])
        for quantity in TABLE1_QUANTITIES:
            trivial = quantity == "speedup" and sampler == BASELINE
            yield Entry(
                item=f"table1/{problem}/{sampler}",
                quantity=quantity,
                paper=float(row[quantity]),
                measured=_cell(tables, problem, sampler, quantity),
                rule=Rule("never") if trivial else table1_rule(problem, sampler, quantity),
                remark="1 by definition" if trivial else _relative_seconds(tables, published, row, quantity),
                chains=PAPER_CHAINS,
            )


def _cell(tables: Tables, problem: str, sampler: str, quantity: str) -> Measured | None:
    ours, errors = (_table1_row(tables.get(name), problem, sampler) for name in ("table1", "table1_se"))
    if ours is None or errors is None:
        return None
    scale = PAPER_DRAWS / ours["draws"] if quantity.startswith("ess_") else 1.0
    estimate = Estimate(scale * float(ours[quantity]), scale * float(errors[quantity]))
    over = f"{ours['chains']} chain" + "s" * (ours["chains"] != 1)
    return Measured(estimate, int(ours["chains"]), over, other_data=ours["data"] in OTHER_DATA)


def _table1_row(table: pd.DataFrame | None, problem: str, sampler: str) -> dict[str, Any] | None:
    if table is None:
        return None
    rows = table[(table["problem"] == problem) & (table["sampler"] == sampler)].to_dict("records")
    return {str(name): value for name, value in rows[0].items()} if rows else None


def _relative_seconds(tables: Tables, published: pd.DataFrame, row: Mapping[Any, Any], quantity: str) -> str:
    """For seconds per iteration, what can be compared: their ratio to those of HMC, the paper's and ours."""
    if quantity != "s_per_iter" or row["sampler"] == BASELINE:
        return "another machine" if quantity in ("s_per_iter", "min_ess_per_s") else ""
    ratios = []
    for table in (published, tables.get("table1")):
        this, baseline = (_table1_row(table, row["problem"], name) for name in (row["sampler"], BASELINE))
        if this is None or baseline is None:
            return ""
        ratios.append(f"{float(this[quantity]) / float(baseline[quantity]):.3g}")
    return f"another machine; relative to {sampler_label(BASELINE)}: paper {ratios[0]}, ours {ratios[1]}"


def _claim_entries(tables: Tables, claims: pd.DataFrame, chains: int) -> Iterator[Entry]:
    for claim in claims.to_dict("records"):
        item, quantity = claim["item"], claim["quantity"]
        rule = Rule(claim["rule"], float(claim["bound"]))
        found = measure(tables, item, quantity)
        yield Entry(item, quantity, float(claim["paper"]), found, rule, claim["where"], chains)


def _row(entry: Entry, reasons: pd.DataFrame) -> dict[str, Any]:
    found = entry.measured
    row = {"item": entry.item, "quantity": entry.quantity, "paper": entry.paper}
    if found is None:
        nothing = dict.fromkeys(("ours", "ours_se", "ratio"), math.nan)
        return {**row, **nothing, "verdict": "not comparable", "note": _note(NOT_RUN, entry.remark)}
    value, error = found.estimate
    # The chains behind a published number are taken to spread as ours do.
    paper = Estimate(entry.paper, error * math.sqrt(found.samples / entry.chains))
    comparable = math.isfinite(value) and not found.other_data
    verdict = entry.rule.verdict(paper, found.estimate) if comparable else "not comparable"
    reason = _reason(entry, value, reasons) if verdict == "differs" else ""
    warning = "" if comparable else "stand-in data, or some of the rows" if found.other_data else "not defined"
    return {
        **row,
        "ours": value,
        "ours_se": error,
        "ratio": value / entry.paper if entry.paper else math.nan,
        "verdict": verdict,
        "note": _note(warning, reason, entry.remark, str(entry.rule), f"over {found.over}"),
    }


def _reason(entry: Entry, value: float, reasons: pd.DataFrame) -> str:
    side = "lower" if value < entry.paper else "higher"
    for reason in reasons.to_dict("records"):
        fits = fnmatchcase(entry.item, reason["item"]) and fnmatchcase(entry.quantity, reason["quantity"])
        if fits and reason["side"] in ("", side):
            return str(reason["reason"])
    return UNEXPLAINED


def _note(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
