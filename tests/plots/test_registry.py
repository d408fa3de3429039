"""The entries of figures: functions take what they are given, and captions have their settings."""

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
import yaml

from rnshmc.plots.drawing import Drawing, source
from rnshmc.plots.registry import FIGURE_READERS, FIGURES, PROBLEM_FIGURES, run_figures

ROOT = Path(__file__).parents[2]
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
ALL = {name for drawing in FIGURES for name in drawing.reads}
OF_PDE = {name for drawing in PROBLEM_FIGURES for name in drawing.reads}


def drawn(*available: str, problems: dict[str, Any] = CONFIG["problems"]) -> dict[str, Drawing]:
    return run_figures(available, {}, CONFIG, problems)


@pytest.mark.parametrize("function", [*(drawing.draw for drawing in FIGURES), *FIGURE_READERS.values()])
def test_a_job_finds_a_function_by_its_name(function: Any) -> None:
    assert resolve_name(source(function)) == function


def test_names_are_unique() -> None:
    assert len({drawing.name for drawing in FIGURES}) == len(FIGURES)
    assert len({drawing.name for drawing in PROBLEM_FIGURES}) == len(PROBLEM_FIGURES)


def test_every_caption_and_setting_is_filled_in_from_the_config_of_the_papers() -> None:
    found = drawn(*ALL)
    assert list(found) == [drawing.name for drawing in FIGURES]
    for name, drawing in found.items():
        assert "{" not in drawing.caption, name
    assert "in 32 dimensions" in found["fig3"].caption
    assert found["nng_fig4"].problem == CONFIG["experiments"]["nng_fig4"]["problem"]
    assert list(found["fig7"].arguments) == ["titles"]
    assert found["fig7"].arguments["titles"].keys() == CONFIG["problems"].keys()
    assert found["fig4"].arguments == {"cuts": CONFIG["sweeps"]["fig4"]["cuts"]}


def test_a_figure_is_drawn_where_all_that_it_reads_is_made() -> None:
    assert list(drawn("fig2_field", "fig2_trajectories", "fig7")) == ["fig7"]


def test_a_problem_has_figures_of_its_own() -> None:
    of_problems = {"pde": OF_PDE, "bank": OF_PDE - {"forward", "predictions"}}
    found = run_figures((), of_problems, CONFIG, CONFIG["problems"])
    assert [name for name in found if name.startswith("pde_")] == [f"pde_{each.name}" for each in PROBLEM_FIGURES]
    assert "bank_field" not in found
    assert found["bank_traces"].arguments["title"] == CONFIG["problems"]["bank"]["title"]
    assert "first chain of each sampler on bank" in found["bank_traces"].caption


def test_the_paper_s_bar_is_explained_where_a_problem_is_of_a_paper() -> None:
    assert "grey bar" in drawn("metrics", "published")["acceptance"].caption
    mine = {"mine": {key: value for key, value in CONFIG["problems"]["bank"].items() if key != "paper"}}
    assert "grey bar" not in drawn("metrics", "published", problems=mine)["acceptance"].caption
