"""The README's example runs as it stands."""

import re
from pathlib import Path

import numpy as np

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_example_samples_its_posterior() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    draws = names["chain"].sampling.draws  # type: ignore[attr-defined]
    # q1 ~ N(0, 1) and q2 = q1^2 + N(0, 1): means 0 and 1, standard deviations 1 and sqrt(3).
    assert draws.shape == (2000, 2)
    # Worth about 280 independent ones: standard errors of 0.06 and 0.10, and six of them.
    assert np.all(np.abs(draws.mean(axis=0) - [0.0, 1.0]) < [0.36, 0.62])
