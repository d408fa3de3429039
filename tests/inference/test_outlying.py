"""Mass that no draw is in: a wide second component, which chains and surrogates of the narrow one do not come near."""

import numpy as np
import pytest
from peers.known_laws import Banana, Contaminated, Funnel, Funnels, KnownMoments, Student, TwistedGaussian, two_normals
from scipy.stats import binom

import rnshmc
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.final_checks import outlying
from rnshmc.inference.tuning import DEFAULT
from rnshmc.inference.tuning_shared import TOLERATED
from rnshmc.types import Array
from tests.conftest import FAILURE
from tests.inference.conftest import evaluations_of_potential

LACKING = TOLERATED
SETS, RATE = 10, 0.05


def lacking(law: KnownMoments, draws: Array, *, chains: bool, budget: int | None = None) -> tuple[float, int]:
    """What draws lack far out, some of which have exact values, and the units that this takes."""
    archive = Archive.of(evaluations_of_potential(law, budget=budget))
    points = draws[: 100 if chains else 25]
    exact = points, np.array([law.value(x) for x in points])
    found = outlying(archive, draws, exact, np.random.default_rng(1), DEFAULT, chains=chains)
    return found, archive.spent.units


@pytest.mark.parametrize("chains", [True, False])
@pytest.mark.parametrize("dim", [3, 8])
@pytest.mark.parametrize("width", [5.0, 10.0])
@pytest.mark.parametrize("share", [0.03, 0.3])
def test_a_component_that_no_draw_is_in_is_seen(share: float, width: float, dim: int, chains: bool) -> None:
    """Of 2000 draws of chains, or 25600 of a surrogate, none is of it; 24 values show it, or 128 for chains."""
    draws = np.random.default_rng(1).standard_normal((2000 if chains else 25600, dim))
    found, units = lacking(Contaminated(share, width, dim), draws, chains=chains)
    assert found > LACKING
    assert units == (128 if chains else 24)


def test_a_draw_in_the_direction_of_a_long_tail_is_no_component() -> None:
    """Three values beyond it, along an axis of a product of t distributions, suggest one; 21 beyond others do not."""
    law, rng = Student(3), np.random.default_rng(3)
    draws = law.sample(rng, 25600)
    radius = np.median(np.linalg.norm(draws / draws.std(axis=0), axis=1))
    draws[0] = draws.mean(axis=0)
    draws[0, 2] += radius * draws[:, 2].std()
    found, units = lacking(law, draws, chains=False)
    assert units == 24
    assert found <= LACKING


@pytest.mark.parametrize("dim", [3, 8])
def test_a_component_in_which_chains_have_been_too_rarely_is_seen(dim: int) -> None:
    """Once in 500 draws instead of once in ten."""
    rng = np.random.default_rng(2)
    draws = Contaminated(0.002, 5.0, dim).sample(rng, 2000)
    found, _ = lacking(Contaminated(0.1, 5.0, dim), draws, chains=True)
    # Nine in ten are missing: 0.098 (25 - 1) / sqrt(2) for a spread of one.
    assert 0.5 < found < 3.0


@pytest.mark.parametrize("chains", [True, False])
@pytest.mark.parametrize(
    "law",
    [Banana(), Contaminated(0.1, 5.0, 3), Funnel(6), Funnels(1.0, (2, 3)), Student(), TwistedGaussian(), two_normals()],
    ids=lambda law: type(law).__name__,
)
def test_exact_draws_hardly_ever_lack_anything(law: KnownMoments, chains: bool) -> None:
    """In more than a few of a hundred sets, a good result would be called doubtful without a reason."""
    rng = np.random.default_rng(3)
    flagged = sum(lacking(law, law.sample(rng, 2000), chains=chains)[0] > LACKING for _ in range(SETS))
    assert flagged <= binom.isf(FAILURE, SETS, RATE)


def test_nothing_is_evaluated_that_the_budget_does_not_allow() -> None:
    draws = np.random.default_rng(1).standard_normal((500, 3))
    assert lacking(Contaminated(0.1, 10.0, 3), draws, chains=False, budget=1) == (0.0, 0)


def test_a_surrogate_of_the_narrow_component_is_not_called_good() -> None:
    """Its variances are a hundredth of the exact ones, and nothing near the mode shows it."""
    law = Contaminated(0.1, 30.0, 3)
    result = rnshmc.sample(law, np.full(3, 0.1), progress_bar=False)
    assert (result.sd.value**2 < 0.2 * law.variance).all()
    assert result.verdict.level == "bad"
    assert "exact values far from the mean show mass without draws" in str(result.verdict)
