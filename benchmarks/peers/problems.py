"""The posteriors of the comparison: potentials, starts, and boxes for peers that ask for one.

Every peer starts near `Problem.start`, which knows nothing of the posterior, and sees the same coordinates.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from peers.forward import ForwardProblem
from peers.forward_models import MODELS
from peers.hierarchies import EightSchools
from peers.known_laws import (
    Banana,
    Contaminated,
    Funnel,
    Student,
    TwistedGaussian,
    close_normals,
    three_normals,
    two_normals,
)
from peers.membrane import Membrane
from peers.remote import RemotePotential

from rnshmc.errors import NumericalError
from rnshmc.targets.checks import read_arrays
from rnshmc.targets.forward_data import read_observations
from rnshmc.targets.garch import Garch
from rnshmc.targets.logistic import from_file as logistic_from_file
from rnshmc.types import Array, Potential

HERE = Path(__file__).parent


class UnconstrainedGarch:
    """GARCH(2, 1) in four coordinates z without bounds.

    alpha_0 = exp(z_0), and (alpha_1, alpha_2, beta_1) is the softmax of (z_1, z_2, z_3, 0) without its last.
    The density is that of z: the log Jacobian is z_0 + sum log w + log(1 - sum w), w the three.
    """

    dim = 4

    def __init__(self, garch: Garch) -> None:
        self._garch = garch

    def value(self, q: Array) -> float:
        natural, rest = self.natural(q)
        return self._garch.value(natural) - self._log_jacobian(q, natural, rest)

    def gradient(self, q: Array) -> Array:
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        natural, rest = self.natural(q)
        value, slope = self._garch.value_and_grad(natural)
        w = natural[1:]
        gradient = np.concatenate(([slope[0] * natural[0] - 1.0], w * (slope[1:] - w @ slope[1:]) - (1.0 - 4.0 * w)))
        return value - self._log_jacobian(q, natural, rest), gradient

    def natural(self, q: Array) -> tuple[Array, float]:
        """(alpha_0, alpha_1, alpha_2, beta_1), and what the last three leave to 1."""
        if not np.abs(q).max() < 300.0:
            raise NumericalError("the GARCH parameters overflow")
        parts = np.exp(np.append(q[1:], 0.0) - max(0.0, q[1:].max()))
        parts /= parts.sum()
        return np.append(np.exp(q[0]), parts[:3]), float(parts[3])

    def _log_jacobian(self, q: Array, natural: Array, rest: float) -> float:
        return float(q[0] + np.log(natural[1:]).sum() + np.log(rest))


@dataclass(frozen=True)
class Problem:
    """A posterior, where to start, and where it could lie before data are seen."""

    potential: Potential
    start: Array
    spread: float
    """Standard deviation of a seed's start around `start`."""
    low: Array
    high: Array
    """Box for peers that need one: four or more standard deviations of the prior where that has any."""
    scale: Array
    """Half width of the box's plausible middle: a prior standard deviation."""
    model: ForwardProblem | None = None
    """For peers that emulate a model's outputs; None where there is no model."""

    modes: int = 1
    """Where there are several, samplers that take several starts are given as many as they use, drawn like `starts`."""

    variables: Callable[[Array], Array] | None = None
    """What is compared with the reference, (..., k), as a function of the coordinates, (..., dim); None: these."""

    @property
    def dim(self) -> int:
        return self.potential.dim

    def starts(self, rng: np.random.Generator, n: int) -> Array:
        """Starting points, shape (n, dim)."""
        return self.start + self.spread * rng.standard_normal((n, self.dim))


@dataclass(frozen=True)
class _Recipe:
    """How a problem is made: its potential from its data file, and the prior's scale for the box and the starts."""

    potential: Callable[[Path], Potential]
    scale: float | tuple[float, ...]
    box: float
    spread: float = 0.1
    modes: int = 1


def _elliptic(data: Path, modes: int = 20) -> Potential:
    """Through a process of the project's environment where this one has no dolfinx."""
    if find_spec("dolfinx") is None:
        return RemotePotential(f"peers.problems:elliptic_{modes}", data, dim=modes)
    return elliptic(data, modes)


def elliptic(data: Path, modes: int) -> Potential:
    """The elliptic inverse problem on dolfinx."""
    from rnshmc.targets.elliptic import from_file

    return from_file(data, modes=modes)


elliptic_20, elliptic_50, elliptic_100, elliptic_200 = (partial(elliptic, modes=k) for k in (20, 50, 100, 200))


def _garch(data: Path) -> Potential:
    (y,) = read_arrays(data, "y")
    return UnconstrainedGarch(Garch(y, orders=(2, 1), prior_sd=10.0))


def _logistic(data: Path) -> Potential:
    return logistic_from_file(data, prior_sd=10.0)


_RECIPES = {
    "lr_simulated": _Recipe(_logistic, 10.0, box=4.0, spread=0.01),
    "lr_200": _Recipe(_logistic, 10.0, box=4.0, spread=0.01),
    "lr_300": _Recipe(_logistic, 10.0, box=4.0, spread=0.01),
    "lr_500": _Recipe(_logistic, 10.0, box=4.0, spread=0.01),
    "news": _Recipe(_logistic, 10.0, box=4.0, spread=0.01),
    "dota2": _Recipe(_logistic, 10.0, box=4.0, spread=0.01),
    "bank": _Recipe(_logistic, 10.0, box=4.0, spread=0.01),
    "a9a": _Recipe(_logistic, 10.0, box=4.0, spread=0.01),
    "pde": _Recipe(_elliptic, 0.5, box=5.0),
    "pde_precise": _Recipe(_elliptic, 0.5, box=5.0),
    "pde_50": _Recipe(partial(_elliptic, modes=50), 0.5, box=5.0),
    "pde_100": _Recipe(partial(_elliptic, modes=100), 0.5, box=5.0),
    "pde_200": _Recipe(partial(_elliptic, modes=200), 0.5, box=5.0),
    "garch": _Recipe(_garch, 3.0, box=5.0),
    "twisted": _Recipe(lambda _: TwistedGaussian(), (10.0, 15.0, *[1.0] * 8), box=6.0),
    "funnel": _Recipe(lambda _: Funnel(), (3.0, *[10.0] * 5), box=8.0),
    "funnel_10": _Recipe(lambda _: Funnel(10), (3.0, *[10.0] * 9), box=8.0),
    "banana": _Recipe(lambda _: Banana(), (1.0, 2.0), box=6.0, spread=1.0),
    "student": _Recipe(lambda _: Student(), 1.0, box=8.0, spread=1.0),
    "contaminated": _Recipe(lambda _: Contaminated(0.1, 5.0, 3), 2.0, box=8.0, spread=1.0),
    "close_normals": _Recipe(lambda _: close_normals(), 2.0, box=4.0, spread=0.5),
    "eight_schools": _Recipe(lambda _: EightSchools(centred=False), (*[1.0] * 8, 5.0, 2.0), box=5.0),
    "eight_schools_centred": _Recipe(lambda _: EightSchools(centred=True), (*[10.0] * 8, 5.0, 2.0), box=5.0),
    "two_normals": _Recipe(lambda _: two_normals(), 4.0, box=4.0, spread=4.0, modes=2),
    "three_normals": _Recipe(lambda _: three_normals(), 6.0, box=4.0, spread=6.0, modes=3),
    "membrane": _Recipe(lambda _: Membrane(read_observations(HERE / "membrane.csv")[1]), 2.0, box=4.0),
}


_BOX, _SPREAD = 5.0, 0.1
"""Of forward models without a recipe: half width of the box in prior standard deviations, spread of the starts."""
NAMES = (*_RECIPES, *(name for name in MODELS if name not in _RECIPES))


def make_problem(name: str, data: Path) -> Problem:
    """A problem by name, from the data file that `peers.data` leaves."""
    model = MODELS[name](data) if name in MODELS else None
    return _of_model(model) if model and name not in _RECIPES else replace(_of_recipe(name, data), model=model)


def _of_model(model: ForwardProblem) -> Problem:
    start, centre = model.coordinates(model.start), model.coordinates(model.prior.median)
    reach = _BOX * model.width
    return Problem(model.potential, start, _SPREAD, centre - reach, centre + reach, model.width, model)


def _of_recipe(name: str, data: Path) -> Problem:
    recipe = _RECIPES[name]
    potential = recipe.potential(data)
    scale = np.broadcast_to(np.array(recipe.scale, dtype=np.float64), (potential.dim,)).copy()
    box = recipe.box * scale
    return Problem(potential, np.zeros(potential.dim), recipe.spread, -box, box, scale, modes=recipe.modes)
