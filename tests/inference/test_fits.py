"""Surrogates that are fitted anew as evaluations arrive."""

from dataclasses import replace

import numpy as np
import pytest

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages import fits
from rnshmc.inference.stages.fits import Fit, first_fit, next_fit
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, fit_posterior
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.surrogates.gradient_kernel import GradientKernel
from rnshmc.types import Array
from tests.inference.conftest import evaluations_of_potential
from tests.inference.problems import Correlated


def test_a_search_that_makes_wells_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the process that is most likely at the points has wells beyond, length and noise stay what they were."""
    archive, rng = Archive(evaluations_of_potential(Correlated()), lambda _: None), stream(1, "wells")
    whitening = Whitening(np.zeros(5), np.eye(5))
    archive.evaluate(rng.standard_normal((30, 5)), "start")
    sound = replace(first_fit(archive, whitening, rng, DEFAULT), at_wall=0.0)
    kernel = sound.posterior.kernel
    assert isinstance(kernel, GradientKernel)

    def with_wells(
        archive: Archive, posterior: SurrogatePosterior, positions: Array, rng: object, tuning: object
    ) -> Fit:
        assert isinstance(posterior.kernel, GradientKernel)
        likely = posterior.kernel.nugget == likely_nugget
        return Fit(posterior, positions, 0.6 if likely else 0.0)

    archive.evaluate(rng.standard_normal((10, 5)), "more")
    likely_nugget = _nugget(fit_posterior(archive.training(), sound.posterior.whitening, rng, DEFAULT.fitting))
    before = replace(sound, posterior=replace(sound.posterior, kernel=replace(kernel, nugget=0.1)))
    monkeypatch.setattr(fits, "_rewhitened", with_wells)
    found = next_fit(archive, before, rng, DEFAULT, search=True, sound=True)
    assert found.at_wall == 0.0
    assert _nugget(found.posterior) == 0.1
    # A surrogate that had wells already gains nothing from what it was.
    found = next_fit(archive, replace(before, at_wall=0.5), rng, DEFAULT, search=True, sound=True)
    assert found.at_wall == 0.6


def _nugget(posterior: SurrogatePosterior) -> float:
    assert isinstance(posterior.kernel, GradientKernel)
    return posterior.kernel.nugget
