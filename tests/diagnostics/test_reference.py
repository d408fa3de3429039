"""An interrupted reference run continues from its checkpoint."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.diagnostics.reference import WARMUP, Reference, ReferenceSettings, run_reference
from rnshmc.errors import ParameterError
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array

BATCH, CHAINS = 100, 2


class Asked(Gaussian):
    """N(0, C) in two dimensions, which counts its gradients."""

    def __init__(self) -> None:
        super().__init__(np.zeros(2), [[1.0, 0.6], [0.6, 2.0]])
        self.gradients = 0

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        self.gradients += 1
        return super().value_and_grad(q)


def reference(target: Asked, checkpoint: Checkpoint | None = None, **changed: Any) -> Reference:
    settings = {"tolerance": 0.04, "max_batches": 20, "step_size": 0.5, "n_steps": (1, 4), **changed}
    made = ReferenceSettings(chains=CHAINS, batch=BATCH, **settings)
    return run_reference(target, made, start=np.zeros(2), seed=1, problem="gaussian", checkpoint=checkpoint)


def test_a_reference_goes_on_with_more_batches_than_it_was_given(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "reference.npz", {"target": "gaussian"})
    stopped, resumed, whole = Asked(), Asked(), Asked()
    with pytest.raises(ParameterError, match=r"raise reference\.max_batches"):
        reference(stopped, checkpoint, max_batches=2)
    found, expected = reference(resumed, checkpoint), reference(whole)
    assert expected.draws > 2 * BATCH
    for name in ("mean", "sd", "mcse_mean", "mcse_sd", "ess_bulk"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes()
    # At least one gradient for each transition is not taken again.
    assert resumed.gradients <= whole.gradients - CHAINS * (WARMUP + 2 * BATCH)
    checkpoint.remove()
    assert list(tmp_path.iterdir()) == []
