"""Titles and names of a config are shown verbatim, never as formulas."""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from rnshmc.plots.chain_figures import autocorrelations, traces
from rnshmc.plots.chain_metrics import acceptance, evaluations
from rnshmc.plots.coordinates import coordinate_name
from rnshmc.plots.efficiency import efficiency
from rnshmc.plots.gradient_models import series
from rnshmc.plots.marginals import marginals_of_chains
from rnshmc.results.posterior import ProblemChains
from rnshmc.store.chains import StoredChain

HOSTILE = r"$\frac{ of_\a & <b> 5 $ x^"
TITLES = {"mine": HOSTILE}
TARGET = {"kind": "python", "names": [HOSTILE] * 6}
CELLS = pd.DataFrame(
    {
        "problem": "mine",
        "sampler": ["hmc", "rns_hmc"],
        "ap": 0.7,
        "min_ess_per_s": 1.0,
        "min_ess_per_value": 1.0,
        "speedup": 1.0,
        "values_per_iter": 1.0,
        "gradients_per_iter": 1.0,
        "metrics_per_iter": 0.0,
        "surrogate_gradients_per_iter": 1.0,
        "data": "user",
    }
)
PUBLISHED = CELLS[:0]
FIGURES: dict[str, Callable[[ProblemChains], Figure]] = {
    "traces": lambda chains: traces(chains, TARGET, HOSTILE),
    "marginals": lambda chains: marginals_of_chains(chains, TARGET, HOSTILE),
    "autocorrelations": lambda chains: autocorrelations(chains, HOSTILE),
    "efficiency": lambda _: efficiency(CELLS, CELLS, TITLES),
    "acceptance": lambda _: acceptance(CELLS, PUBLISHED, TITLES),
    "evaluations": lambda _: evaluations(CELLS, TITLES),
    "series": lambda _: series(pd.DataFrame({"t": [1, 2], "y": [0.0, 1.0]}), HOSTILE),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_hostile_title_is_drawn_as_it_is_written(name: str, make_chain: Callable[..., StoredChain]) -> None:
    chains = ProblemChains.of([make_chain("mine", sampler, 1, draws=40) for sampler in ("hmc", "rns_hmc")])
    figure = FIGURES[name](chains)
    figure.draw_without_rendering()
    # Of an escaped dollar sign, matplotlib shows the sign.
    shown = {text.get_text().replace(r"\$", "$") for text in figure.findobj(Text) if isinstance(text, Text)}
    assert HOSTILE in shown


def test_no_title_reaches_a_figure_otherwise() -> None:
    for file in (Path(__file__).parents[2] / "src/rnshmc/plots").glob("*.py"):
        source = file.read_text(encoding="utf-8")
        assert re.findall(r"suptitle\((?!plain\()|(?<!plain\()titles\[", source) == [], file.name


def test_names_of_a_user_are_no_formulas() -> None:
    assert coordinate_name({"kind": "python", "names": ["$a$", "b_1"]}, 1) == r"\$a\$"
    assert coordinate_name({"kind": "python", "names": ["$a$", "b_1"]}, 2) == "b_1"
