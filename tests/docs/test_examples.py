"""The examples of README.md and docs/samplers.md run unchanged, and print the output on the pages."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import rnshmc
from tests.docs.printed import differences

ROOT = Path(__file__).parents[2]
RESULT = """\
        mean        +-      sd        +-
rise    8.01  0.000498  0.0742  0.000594  K

2000 draws from the surrogate, corrected
evaluated 83 points, 166 units: 83 values, 83 gradients
log evidence -1.88 +- 0.0022 (log of the integral of the density as given)

No problem found in the one mode that was looked at; other modes were not searched for.
   R-hat = 1.00: the chains agree.
"""


def test_a_posterior_of_one_s_own_is_sampled(docs_output: ModuleType) -> None:
    names, (output,) = docs_output.run_page(ROOT / "README.md")
    assert names["result"].names == ("a", "b")
    assert differences(docs_output.joined(output.shown), output.printed) == []


def test_the_readme_s_forward_model_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("    prior = {"))
    times = np.linspace(0.25, 4.0, 8)
    data = 2.0 * np.exp(-0.7 * times) + 0.05 * np.cos(40.0 * times)
    names = {"rnshmc": rnshmc, "forward": lambda x: x[0] * np.exp(-x[1] * times), "data": data}
    exec("\n".join(line.strip() for line in lines[first : first + 3]), names)
    assert names["result"].names == ("rise", "rate", "sigma")
    assert (tmp_path / "runs.jsonl").exists()


def test_a_result_has_a_table_figures_and_a_file(
    docs_output: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names, (output,) = docs_output.run_page(ROOT / "docs/result.md")
    assert differences(docs_output.joined(output.shown), output.printed) == []
    assert {path.name for path in tmp_path.iterdir()} == {"pairs.png", "surrogate.png", "training.png", "result.nc"}
    assert names["more"].shape == (10_000, 2)


def test_the_gallery_draws_its_figures(
    docs_output: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names, _ = docs_output.run_page(ROOT / "docs/gallery.md")
    kinds = ("pairs", "surrogate", "training", "predictions")
    assert {path.name for path in tmp_path.iterdir()} == {f"gallery-{kind}.png" for kind in kinds}
    # The parameters that the counts were simulated with.
    mean, sd = names["result"].mean.value, names["result"].sd.value
    assert (np.abs(mean - [5.0, 0.6, 200.0]) < 4 * sd).all()


def test_the_papers_sampler_samples_its_posterior(docs_output: ModuleType) -> None:
    names, _ = docs_output.run_page(ROOT / "docs/samplers.md")
    draws = names["chain"].sampling.draws
    # q1 ~ N(0, 1) and q2 = q1^2 + N(0, 1): means 0 and 1, standard deviations 1 and sqrt(3).
    assert draws.shape == (2000, 2)
    # Worth about 280 independent ones: standard errors of 0.06 and 0.10, and six of them.
    assert np.all(np.abs(draws.mean(axis=0) - [0.0, 1.0]) < [0.36, 0.62])


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("8.01  0.000498", "8.01  0.000411", True),
        ("8.01  0.000498", "8.11  0.000498", False),
        ("0.000594  K", "0.000594  C", False),
        ("83 values", "98 values", True),
        ("83 values", "830 values", False),
        ("-1.88 +- 0.0022", "-1.884 +- 0.002", True),
        ("-1.88 +- 0.0022", "-1.94 +- 0.0022", False),
        ("-1.88 +- 0.0022", "-1.88 +- 0.022", False),
        ("2000 draws", "2001 draws", False),
        ("No problem found", "Problems found", False),
        ("   R-hat = 1.00: the chains agree", " ! R-hat = 1.02: the chains disagree", True),
        ("   R-hat = 1.00", "   Pareto k = 1.00", False),
        ("\n2000 draws", "\n1 warning\n2000 draws", False),
    ],
)
def test_outputs_are_the_same_up_to_what_a_processor_changes(shown: str, printed: str, same: bool) -> None:
    assert (differences(RESULT, RESULT.replace(shown, printed)) == []) == same


def test_wrapped_lines_are_joined_again(docs_output: ModuleType) -> None:
    text = RESULT + "   " + "one two-three " * 20 + "end.\n"
    assert max(map(len, docs_output.wrapped(text).splitlines())) <= docs_output.WIDTH
    assert docs_output.joined(docs_output.wrapped(text)) == text


def test_a_renewed_page_shows_what_is_printed(docs_output: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "one\n\n```python\nprint(1)\n```\n\n```text\n0\n```\n\n```python\nprint(22)\n```\n\n```text\n```\nend\n"
    )
    text = page.read_text()
    renewed = docs_output.renewed(text, docs_output.run_page(page)[1])
    assert renewed == text.replace("```text\n0", "```text\n1").replace("```text\n```", "```text\n22\n```")


def test_a_block_that_nothing_runs_is_an_error(docs_output: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n\n```julia\n1 + 1\n```\n")
    with pytest.raises(ValueError, match=r"page.md, line 3: nothing here runs julia"):
        docs_output.run_page(page)
