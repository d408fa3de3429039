"""Tables as text: Markdown for a page, LaTeX (booktabs) for a paper."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rnshmc.report.escaping import in_latex, in_markdown
from rnshmc.results.agreement import pooled
from rnshmc.results.estimates import Estimate, cells
from rnshmc.results.metrics import ChainMetrics
from rnshmc.results.names import Titles, sampler_label
from rnshmc.results.tables import MIXED_RHAT

BUSY = "†"
"""Mark of seconds measured while other processes kept the machine busy."""
NOT_MIXED = f"as chains did not mix (R-hat above {MIXED_RHAT}, or a parameter that never moved)"
_AFTER_NUMBER = f"\N{NO-BREAK SPACE}{BUSY}"


@dataclass(frozen=True)
class Number:
    """A number as text: ours, its standard error (empty if unknown), the paper's (empty if it has none)."""

    ours: str
    error: str
    paper: str


def significant(value: float, digits: int = 3) -> str:
    """`value` with so many significant digits, without an exponent; a dash where it is missing."""
    if pd.isna(value):
        return "–"
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".split("e")[1])
    return f"{value:.{max(digits - 1 - exponent, 0)}f}"


def plus_minus(error: float) -> str:
    """A standard error behind its number; empty if it is unknown, or 0 by definition."""
    return "" if pd.isna(error) or error == 0 else f"± {significant(error, 2)}"


def with_error(value: float, error: float) -> str:
    """A number and its standard error, both to the second significant digit of the error; without it, three digits."""
    if not (math.isfinite(error) and error > 0):
        return significant(value)
    decimals = max(1 - math.floor(math.log10(error)), 0)
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def fixed(decimals: int) -> Callable[[float], str]:
    """A format with so many decimals; a dash where the value is missing."""
    return lambda value: "–" if pd.isna(value) else f"{value:.{decimals}f}"


def readable_table1(table: pd.DataFrame, titles: Titles) -> pd.DataFrame:
    """The view ``table1`` of the results as text, in the layout of paper A: one column for the three ESS."""
    count = fixed(0)
    marks = table["loaded"].map({True: _AFTER_NUMBER, False: ""})
    return pd.DataFrame(
        {
            "problem": table["problem"].map(titles),
            "sampler": table["sampler"].map(sampler_label),
            "hidden units": table["hidden_units"].map(count),
            "chains": table["chains"].astype(str),
            "acceptance": table["ap"].map(fixed(2)),
            "ESS (min, med, max)": _triples(table, "ess"),
            "s/iter": table["s_per_iter"].map(significant) + marks,
            "min ESS/s": table["min_ess_per_s"].map(significant),
            "speed-up": table["speedup"].map(significant),
            "as published": table["published_speedup"].map(significant),
            "values/iter": table["values_per_iter"].map(significant),
            "gradients/iter": table["gradients_per_iter"].map(significant),
            "metrics/iter": table["metrics_per_iter"].map(significant),
            "min ESS/eval.": table["min_ess_per_value"].map(significant),
            "data": table["data"],
        }
    )


def readable_network_table(table: pd.DataFrame, titles: Titles) -> pd.DataFrame:
    """The view ``nng_tables`` of the results as text, in the layout of paper B, with both effective sample sizes and
    both ways to count seconds."""
    return pd.DataFrame(
        {
            "problem": table["problem"].map(titles),
            "sampler": table["sampler"].map(sampler_label),
            "training draws": table["training_draws"].map(fixed(0)),
            "chains × draws": [
                f"{chains} × {draws}" for chains, draws in zip(table["chains"], table["draws"], strict=True)
            ],
            "acceptance": table["ap"].map(fixed(2)),
            "acceptance as published": table["ap_with_empty"].map(fixed(2)),
            "ESS (min, med, max)": _triples(table, "ess"),
            "truncated ESS": _triples(table, "truncated_ess"),
            "ESS as published": _triples(table, "truncated_ess_with_empty"),
            "values/iter": table["values_per_iter"].map(significant),
            "gradients/iter": table["gradients_per_iter"].map(significant),
            "s/iter": table["s_per_iter"].map(significant) + table["loaded"].map({True: _AFTER_NUMBER, False: ""}),
            "training s": table["fit_s"].map(significant),
            "total s": table["total_s"].map(significant),
            "med ESS/s": table["median_ess_per_s"].map(significant),
            "speed-up": table["speedup"].map(significant),
            "as published": table["published_speedup"].map(significant),
            "with training": table["total_speedup"].map(significant),
            "with training, as published": table["published_total_speedup"].map(significant),
            "data": table["data"],
        }
    )


def readable_posterior(metrics: Iterable[ChainMetrics], parameters: Mapping[int, str]) -> pd.DataFrame:
    """Posterior means and standard deviations by parameter and sampler as text, with Monte Carlo standard errors.

    `metrics` are of every chain of one problem, `parameters` names the coordinates to show, counted from 0.
    """
    moments = {sampler: pooled(chains) for (_, sampler), chains in cells(metrics).items()}
    return pd.DataFrame(
        {
            "parameter": name,
            "sampler": sampler_label(sampler),
            "mean": with_error(found.mean[k], found.mcse_mean[k]),
            "standard deviation": with_error(found.sd[k], found.mcse_sd[k]),
        }
        for k, name in parameters.items()
        for sampler, found in moments.items()
    )


def readable_matching(table: pd.DataFrame, titles: Titles) -> pd.DataFrame:
    """Means of `matching_table` over the fits of each surrogate as text, with standard errors."""
    rows = []
    for (problem, surrogate), fits in table.groupby(["problem", "surrogate"], sort=False):
        error = plus_minus(Estimate.over(fits["variance"]).error)
        rows.append(
            {
                "problem": titles[str(problem)],
                "surrogate": str(surrogate).replace("_", " "),
                "fits": str(len(fits)),
                "training residual sd": significant(fits["train_residual_sd"].mean()),
                "Var(V − U)": f"{significant(fits['variance'].mean())} {error}".rstrip(),
                "share of Var(U)": f"{fits['share'].mean():.2%}",
                "data": fits["data"].iloc[0],
            }
        )
    return pd.DataFrame(rows)


def readable_diagnostics(diagnostics: pd.DataFrame, titles: Titles) -> pd.DataFrame:
    """The table of diagnostics (`rnshmc.results.tables.diagnostics_table`) as text."""
    return pd.DataFrame(
        {
            "problem": diagnostics["problem"].map(titles),
            "sampler": diagnostics["sampler"].map(sampler_label),
            "chains": diagnostics["chains"].astype(str),
            "max R-hat": diagnostics["rhat_max"].map(fixed(3)),
            "min bulk ESS": diagnostics["ess_bulk_min"].map(fixed(0)),
            "min tail ESS": diagnostics["ess_tail_min"].map(fixed(0)),
            "divergences": diagnostics["divergences"].map(fixed(0)),
            "warnings": diagnostics["warnings"].fillna("").replace("", "none"),
        }
    )


def means_text(agrees: Any, *, mixed: bool) -> str:
    """Whether means agree, in words; or why that is not judged."""
    if not mixed:
        return "not mixed"
    return "too few draws" if pd.isna(agrees) else "agree" if agrees else "differ"


def busy_note(table: pd.DataFrame) -> str:
    """Explanation of the mark below a table of texts that has one; empty otherwise."""
    if not table["s/iter"].str.endswith(BUSY).any():
        return ""
    return (
        f"\n{BUSY} Other work kept the machine busy meanwhile: these seconds, and what is divided by them, "
        "are not reliable; counts of evaluations are.\n"
    )


def unmixed_note(table: pd.DataFrame, titles: Titles) -> str:
    """Why some speed-ups of a view are missing: whose chains did not mix; empty if all did."""
    rows = table.loc[~table["mixed"].astype(bool), ["problem", "sampler"]].to_numpy().tolist()
    if not rows:
        return ""
    names = [f"{sampler_label(sampler)} on {in_markdown(titles[problem])}" for problem, sampler in rows]
    return f"\nNo speed-up, {NOT_MIXED}: {'; '.join(names)}.\n"


def to_markdown(table: pd.DataFrame) -> str:
    """A table of Markdown (`rnshmc.report.escaping`) as that of GitHub; columns of numbers are aligned to the right."""
    columns = [str(column) for column in table.columns]
    aligned = ["---" if kind else "---:" for kind in _is_text(table)]
    rows = [columns, aligned, *table.to_numpy().tolist()]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def to_latex(table: pd.DataFrame) -> str:
    """A table of texts as a LaTeX tabular with the rules of booktabs."""
    alignment = "".join("l" if kind else "r" for kind in _is_text(table))
    style = table.style.hide(axis="index").format(in_latex).format_index(in_latex, axis="columns")
    return style.to_latex(column_format=alignment, hrules=True)


def _is_text(table: pd.DataFrame) -> list[bool]:
    return [any(text[:1].isalpha() for text in table[column].map(str)) for column in table]


def _triples(table: pd.DataFrame, name: str) -> list[str]:
    count = fixed(0)
    return [
        ", ".join(map(count, row)) for row in table[[f"{name}_{part}" for part in ("min", "median", "max")]].to_numpy()
    ]
