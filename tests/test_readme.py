"""The examples of README.md, docs/index.md and docs/samplers.md run as they stand."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


def names_of_example(page: str) -> dict[str, Any]:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, page, "exec"), names)
    return names


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_a_posterior_of_one_s_own_is_sampled(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = names_of_example(page)["result"]
    assert tuple(result.names) == ("a", "b")
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("a", "b", "mean"))


def test_the_papers_sampler_samples_its_posterior() -> None:
    draws = names_of_example("docs/samplers.md")["chain"].sampling.draws
    # q1 ~ N(0, 1) and q2 = q1^2 + N(0, 1): means 0 and 1, standard deviations 1 and sqrt(3).
    assert draws.shape == (2000, 2)
    # Worth about 280 independent ones: standard errors of 0.06 and 0.10, and six of them.
    assert np.all(np.abs(draws.mean(axis=0) - [0.0, 1.0]) < [0.36, 0.62])
