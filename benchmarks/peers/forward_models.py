"""The problems of the comparison that are forward models. Their data are in models/*.csv: see models/README.md."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np
from peers.forward import ForwardProblem
from peers.likelihoods import Gaussian, Likelihood, LogNormal, NegativeBinomial, Prior
from peers.models.chain import RATES, REACTIONS, Chain
from peers.models.decay import Decay
from peers.models.epidemic import Epidemic
from peers.models.predator_prey import PredatorPrey
from peers.remote import RemoteModel

from rnshmc.errors import DataError
from rnshmc.targets.forward_data import ForwardData
from rnshmc.types import Array

CHAIN_SD = 0.003
"""Known standard deviation of the errors of the chain's concentrations."""
CHAIN_PRIOR = Prior(np.log(RATES), np.full(REACTIONS, 0.5), np.zeros(REACTIONS, dtype=bool))
"""Of the logarithms of the chain's rates."""
DATA = Path(__file__).parent / "models"


class Model(Protocol):
    """Outputs of a model and products with their Jacobian, see `ForwardProblem`."""

    def forward(self, x: Array) -> Array: ...
    def jvp(self, x: Array, v: Array) -> Array: ...
    def vjp(self, x: Array, w: Array) -> Array: ...


def sir() -> ForwardProblem:
    """The epidemic: four parameters and the dispersion of the counts, log-normal priors."""
    prior = _log_normal([1.5, 0.8, 10.0, 0.2, 10.0], [0.5, 0.5, 1.0, 0.5, 1.0])
    names = ("beta", "gamma", "infected", "rho", "phi")
    return _problem(Epidemic(), _read("sir"), NegativeBinomial("phi"), prior, names, positive=True)


def decay() -> ForwardProblem:
    """Two decays: four parameters and the standard deviation of the errors, log-normal priors."""
    prior = _log_normal([3.0, 1.5, 3.0, 0.15, 0.2], [1.0, 0.5, 1.0, 0.5, 1.0])
    names = ("a_1", "k_1", "a_2", "k_2", "sigma")
    return _problem(Decay(), _read("decay"), Gaussian("sigma"), prior, names, positive=True)


def chain() -> ForwardProblem:
    """The chain of reactions: logarithms of 30 rates, normal priors, known errors."""
    names = tuple(f"log_k_{k}" for k in range(1, REACTIONS + 1))
    return _problem(Chain(), _read("chain"), Gaussian(CHAIN_SD), CHAIN_PRIOR, names, positive=False)


def lotka_volterra() -> ForwardProblem:
    """Hares and lynxes: six parameters, and the standard deviations of the logarithms of the two counts.

    Priors of posteriordb: the first four normal, truncated at 0; the initial counts and the errors log-normal. From the
    prior medians most descents end in a second mode, 40 higher in U. So the start has rates of a cycle of ten years, as
    the data show, and the counts of the first year.
    """
    logarithmic = np.array([False] * 4 + [True] * 4)
    mean = np.array([1.0, 0.05, 1.0, 0.05, np.log(10.0), np.log(10.0), -1.0, -1.0])
    prior = Prior(mean, np.array([0.5, 0.05, 0.5, 0.05, 1.0, 1.0, 1.0, 1.0]), logarithmic)
    names = ("alpha", "beta", "gamma", "delta", "hares", "lynxes", "sigma_hares", "sigma_lynxes")
    likelihood = LogNormal(("sigma_hares", "sigma_lynxes"))
    data, cycle = _read("lotka_volterra"), 2.0 * np.pi / 10.0
    problem = _problem(PredatorPrey(), data, likelihood, prior, names, positive=True)
    return replace(problem, start=np.concatenate(([cycle, 0.05, cycle, 0.05], data[:2], prior.median[6:])))


def elliptic(data: Path) -> ForwardProblem:
    """Paper A's elliptic problem: 20 coefficients and the pressure at 121 points, by finite elements."""
    stored = ForwardData.load(data)
    dim = stored.prior_theta.shape[1]
    prior = Prior(np.zeros(dim), np.full(dim, stored.prior_sd), np.zeros(dim, dtype=bool))
    names = tuple(f"theta_{k}" for k in range(1, dim + 1))
    return _problem(
        _elliptic_model(data, dim), stored.observations, Gaussian(stored.noise_sd), prior, names, positive=False
    )


MODELS: dict[str, Callable[[Path], ForwardProblem]] = {
    "sir": lambda _: sir(),
    "decay": lambda _: decay(),
    "chain": lambda _: chain(),
    "lotka_volterra": lambda _: lotka_volterra(),
    "pde": elliptic,
    "pde_precise": elliptic,
}
"""The problem of each name, from the data file that `peers.data` leaves."""


def _elliptic_model(data: Path, dim: int) -> Model:
    """Through a process of the project's environment where this one has no dolfinx."""
    if find_spec("dolfinx") is None:
        return RemoteModel("peers.models.elliptic:Elliptic", data, dim)
    from peers.models.elliptic import Elliptic

    return Elliptic(data)


def _problem(
    model: Model, data: Array, likelihood: Likelihood, prior: Prior, names: tuple[str, ...], *, positive: bool
) -> ForwardProblem:
    """A problem that starts at the prior median, whose parameters are all positive, or all real."""
    signs = np.full(len(names), positive)
    return ForwardProblem(model.forward, model.jvp, model.vjp, data, likelihood, prior, prior.median, names, signs)


def _log_normal(medians: Sequence[float], sd: Sequence[float]) -> Prior:
    return Prior(np.log(medians), np.array(sd), np.ones(len(medians), dtype=bool))


def _read(name: str) -> Array:
    """Data in the order of the outputs, from a table whose first column is the time."""
    path = DATA / f"{name}.csv"
    try:
        return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)[:, 1:].ravel()
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a table of times and data: {error}") from error
