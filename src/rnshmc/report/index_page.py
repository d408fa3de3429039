"""The report of a run: one page with the settings and results of the run, which opens without a network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rnshmc.plots.style import STAND_IN
from rnshmc.report.network_text import NetworkSection
from rnshmc.report.pages import render
from rnshmc.report.scorecard_text import of_items, verdict_sentence
from rnshmc.report.table_text import Number, fixed, plus_minus, significant
from rnshmc.results.metrics import ChainMetrics
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.card import verdict_counts
from rnshmc.scorecard.published import Published, printed_cells

CHAPTERS = {
    "surrogates": ("zhang2017", "fig1", "fig2"),
    "gaussian": ("zhang2017", "fig3"),
    "sweeps": ("zhang2017", "fig4", "fig5"),
    "table1": ("zhang2017", "table1", "section5", "section5.1", "section5.2"),
    "adaptive": ("zhang2017", "fig7", "fig8"),
    "gradients": ("li2019",),
}
"""The paper and the items that each chapter covers; all items where none is named."""
_ESS_COLUMNS = ("ess_min", "ess_median", "ess_max")
_QUALITY = {"train_residual_sd": "training residual sd", "train_error": "training error"}
_COLUMNS = {
    "ap": fixed(3),
    **dict.fromkeys(_ESS_COLUMNS, fixed(0)),
    "s_per_iter": significant,
    "min_ess_per_s": significant,
    "speedup": significant,
}


@dataclass(frozen=True)
class Row:
    """A sampler's row in the report."""

    sampler: str
    length: str
    """Numbers of chains and iterations."""
    hidden_units: str
    numbers: Mapping[str, Number]
    counts: tuple[str, ...]
    """Exact values, gradients and metrics and surrogate gradients per iteration."""
    ess_per_evaluation: str
    z: str
    threshold: str
    compared: bool
    """Whether its means are compared with any."""
    agrees: bool | None
    """Whether they agree with the reference; None if there are too few draws to judge."""
    solver_failures: int
    softened_metrics: int
    fit: str
    loaded: bool


@dataclass(frozen=True)
class Section:
    """A problem in the report."""

    problem: str
    title: str
    story: str
    origin: str
    rows: tuple[Row, ...]

    @property
    def stand_in(self) -> bool:
        """Whether the data are a stand-in."""
        return self.origin == STAND_IN


@dataclass(frozen=True)
class Results:
    """The data of the report.

    Attributes
    ----------
    table, errors, diagnostics, agreement
        From `rnshmc.results.tables`.
    numbers
        The published numbers (`rnshmc.scorecard.published.read_published`).
    metrics
        Of every chain.
    """

    table: pd.DataFrame
    errors: pd.DataFrame
    diagnostics: pd.DataFrame
    agreement: pd.DataFrame
    numbers: Sequence[Published]
    metrics: Sequence[ChainMetrics]


def sections(results: Results, titles: Mapping[str, str], stories: Mapping[str, str]) -> list[Section]:
    """The problems of a run with all their numbers as text, in the order of the tables."""
    parts = []
    for problem in dict.fromkeys(results.table["problem"]):
        chains = [chain for chain in results.metrics if chain.problem == problem]
        samplers = results.table.loc[results.table["problem"] == problem, "sampler"]
        parts.append(
            Section(
                problem=problem,
                title=titles[problem],
                story=stories.get(problem, ""),
                origin=chains[0].origin,
                rows=tuple(_row(results, problem, sampler) for sampler in samplers),
            )
        )
    return parts


def report_page(
    template: Path,
    *,
    run: str,
    problems: Sequence[Section],
    gradient_problems: Sequence[NetworkSection],
    diagnostics: pd.DataFrame,
    card: pd.DataFrame,
    numbers: Sequence[Published],
    draws: int,
    paper_draws: float,
    figures: Mapping[str, Path],
    notebooks: Mapping[str, str],
    provenance: Mapping[str, Any],
) -> str:
    """The HTML of the report, with its styles and figures inside.

    Parameters
    ----------
    template
        The jinja2 template; its includes are in the same folder.
    run
        Name of the run.
    problems
        From `sections`.
    gradient_problems
        From `rnshmc.report.network_text.network_sections`; none, if the run has no problem of paper B.
    diagnostics
        From `rnshmc.report.table_text.readable_diagnostics`, of every problem.
    card
        From `rnshmc.scorecard.card.scorecard`; empty where no problem or experiment of a paper was run.
    numbers
        The published numbers (`rnshmc.scorecard.published.read_published`).
    draws, paper_draws
        Kept draws of the longest chains of `problems`, and of the longest chains in the paper.
    figures
        PNG files; a chapter whose figures are missing is omitted.
    notebooks
        Links to the notebooks, relative to the report.
    provenance
        From `rnshmc.store.provenance`.
    """
    diagnosed = diagnostics.to_dict("records")
    everywhere: list[Section | NetworkSection] = [*problems, *gradient_problems]
    return render(
        template,
        run=run,
        sections=problems,
        gradient_sections=gradient_problems,
        samplers=list(dict.fromkeys(row.sampler for section in problems for row in section.rows)),
        loaded=[text for section in everywhere if (text := _loaded(section))],
        fewer_rows=[section.title for section in everywhere if section.origin == "subset"],
        diagnostics=diagnosed,
        warned=[row for row in diagnosed if row["warnings"] != "none"],
        counts=verdict_counts(card) if len(card) else {},
        draws=draws,
        paper_draws=f"{paper_draws:.0f}" if draws < paper_draws else "",
        sentences={name: verdict_sentence(of_items(card, numbers, *chapter)) for name, chapter in CHAPTERS.items()},
        figures=figures,
        notebooks=notebooks,
        provenance=provenance,
    )


def _loaded(section: Section | NetworkSection) -> str:
    """The samplers of a problem whose timing was disturbed; empty if none was."""
    samplers = [row.sampler for row in section.rows if row.loaded]
    return f"{', '.join(samplers)} on {section.title}" if samplers else ""


def _row(results: Results, problem: str, sampler: str) -> Row:
    ours, errors, diagnostics = (
        _only(table, problem, sampler) for table in (results.table, results.errors, results.diagnostics)
    )
    agreement = _agreement(results.agreement, problem, sampler)
    chains = [chain for chain in results.metrics if (chain.problem, chain.sampler) == (problem, sampler)]
    paper = _published(results.numbers, problem, sampler, chains[0].draws)
    return Row(
        sampler=sampler_label(sampler),
        length=f"{len(chains)} × ({chains[0].explored} + {chains[0].draws})",
        hidden_units=fixed(0)(ours["hidden_units"]),
        numbers={column: _number(column, ours, errors, paper) for column in _COLUMNS},
        counts=tuple(
            significant(count)
            for count in (
                ours["values_per_iter"],
                ours["gradients_per_iter"],
                ours["metrics_per_iter"],
                sum(chain.surrogate_gradients_per_iter for chain in chains) / len(chains),
            )
        ),
        ess_per_evaluation=significant(ours["min_ess_per_value"]),
        **agreement,
        solver_failures=int(diagnostics["solver_failures"]),
        softened_metrics=int(diagnostics["softened_metrics"]),
        fit=_fit(chains),
        loaded=bool(ours["loaded"]),
    )


def _only(table: pd.DataFrame, problem: str, sampler: str) -> dict[str, Any]:
    row = table[(table["problem"] == problem) & (table["sampler"] == sampler)]
    return {str(column): value for column, value in row.iloc[0].items()}


def _agreement(table: pd.DataFrame, problem: str, sampler: str) -> dict[str, Any]:
    """The comparison of a sampler's means; dashes for one that is compared with nothing, as HMC is with itself."""
    if table[(table["problem"] == problem) & (table["sampler"] == sampler)].empty:
        return {"z": "–", "threshold": "–", "compared": False, "agrees": None}
    row = _only(table, problem, sampler)
    agrees = None if pd.isna(row["agrees"]) else bool(row["agrees"])
    return {
        "z": fixed(2)(row["max_abs_z"]),
        "threshold": fixed(2)(row["threshold"]),
        "compared": True,
        "agrees": agrees,
    }


def _published(numbers: Sequence[Published], problem: str, sampler: str, draws: int) -> dict[str, float]:
    """The published row with its ESS scaled to as many draws as ours; empty if there is none."""
    cells = printed_cells(numbers, problem, sampler)
    return {
        column: cells[column].printed * (draws / cells[column].draws if column in _ESS_COLUMNS else 1.0)
        for column in _COLUMNS
        if column in cells
    }


def _number(column: str, ours: Mapping[str, Any], errors: Mapping[str, Any], paper: Mapping[str, float]) -> Number:
    text = _COLUMNS[column]
    return Number(
        text(ours[column]), plus_minus(errors[column]), _as_printed(column, paper[column]) if column in paper else ""
    )


def _as_printed(column: str, value: float) -> str:
    """A published number with its printed digits."""
    if column in _ESS_COLUMNS:
        return f"{value:.0f}"
    if column == "s_per_iter":
        return f"{value:.3f}"
    return f"{value:.2f}" if value >= 0.01 else f"{value:g}"


def _fit(chains: Sequence[ChainMetrics]) -> str:
    """A sentence about the surrogates of these chains; empty if the exact potential drives."""
    fits = [(chain.surrogate, chain.phases["fit"]) for chain in chains if chain.surrogate is not None]
    if not fits:
        return ""
    # A network of gradients has no residual of the potential, but an error of the gradient, in standard deviations.
    key = "train_residual_sd" if "train_residual_sd" in fits[0][0] else "train_error"
    residuals = [surrogate[key] for surrogate, _ in fits]
    seconds = [phase["cpu_s"] for _, phase in fits]
    units = fits[0][0].get("hidden_units")
    return (
        f"{units} hidden units, fitted in {significant(min(seconds), 2)}–{significant(max(seconds), 2)} s, "
        f"{_QUALITY[key]} {significant(min(residuals), 2)}–{significant(max(residuals), 2)}"
    )
