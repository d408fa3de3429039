"""Registries of kernels, surrogates, their views and targets by name, and the functions that make their objects.

Modules are named by strings and imported when used, so that a stage depends only on the code it runs.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.masking import unmasked
from rnshmc.types import Array, FittedDriver, Potential, Surrogate

KERNELS = {
    "hmc": "rnshmc.kernels.hmc:HMC",
    "rmhmc": "rnshmc.kernels.rmhmc:RMHMC",
    "adaptive_hmc": "rnshmc.kernels.adaptive_hmc:AdaptiveHMC",
    "sghmc": "rnshmc.kernels.sghmc:SGHMC",
    "sghmc_mh": "rnshmc.kernels.sghmc:CorrectedSGHMC",
}
SURROGATES = {
    "random_network": "rnshmc.surrogates.random_network:RandomNetwork",
    "online_network": "rnshmc.surrogates.online:OnlineNetwork",
    "rbf_network": "rnshmc.surrogates.rbf_network:RBFNetwork",
    "gaussian_process": "rnshmc.surrogates.gaussian_process:GaussianProcess",
    "fitc": "rnshmc.surrogates.fitc:FITC",
    "gradient_network": "rnshmc.surrogates.gradient_network:GradientNetwork",
}
FITTED_TO_GRADIENTS = frozenset({"gradient_network"})
"""Surrogates that are fitted to gradients along the trajectories of an exploration, and are not potentials."""
VIEWS = {"softabs": "rnshmc.surrogates.softabs:SoftAbsMetric"}
TARGETS = {
    "logistic": "rnshmc.targets.logistic:from_file",
    "elliptic": "rnshmc.targets.elliptic:from_file",
    "elliptic_full_jacobian": "rnshmc.targets.elliptic_full_jacobian:from_file",
    "garch": "rnshmc.targets.garch:from_file",
    "gp_regression": "rnshmc.targets.gp_regression:from_file",
    "logistic_laplace": "rnshmc.targets.minibatch_logistic:with_laplace_prior",
    "python": "rnshmc.targets.own:from_file",
    "umbridge": "rnshmc.inference.exact.umbridge_potential:from_server",
}
OWN_TARGETS = frozenset({"python", "umbridge"})
"""Targets that are a user's model and take no data set."""


def load(registry: Mapping[str, str], name: str | None) -> Any:
    """Import the object named ``name`` in one of the registries above.

    Raises `ParameterError` if the registry has no such name.
    """
    if name is None or name not in registry:
        raise ParameterError(f"no entry named {name!r}; there are {', '.join(sorted(registry))}")
    module, attribute = registry[name].split(":")
    return getattr(import_module(module), attribute)


def target_settings(target: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in a config's ``target`` entry: all but its ``kind``."""
    return {key: value for key, value in target.items() if key != "kind"}


def load_target(target: Mapping[str, Any], data: Path) -> Potential:
    """Build the exact potential that a config's ``target`` entry describes by its ``kind`` and settings."""
    potential: Potential = load(TARGETS, target["kind"])(data, **target_settings(unmasked(target)))
    return potential


def fit(
    surrogate: str | None, states: Array, observed: Array, *, settings: Mapping[str, Any], rng: np.random.Generator
) -> Any:
    """Fit a surrogate to potentials, shape (n,), or gradients, (n, dim), at states of shape (n, dim).

    Potentials are those of the chain's states (paper A, Algorithms 2 and 3), gradients those along its trajectories
    (paper B, section 3), for `FITTED_TO_GRADIENTS`. ``settings`` are keywords of the ``fit`` of the surrogate. The
    result is a `FittedDriver`. Raises `ParameterError` if there is no such surrogate; `FitError` if it cannot be
    fitted.
    """
    return load(SURROGATES, surrogate).fit(states, observed, rng=rng, **settings)


def load_driver(surrogate: Mapping[str, Any], path: Path) -> FittedDriver:
    """Load the fitted driver in ``path``, of the ``type`` in a config's ``surrogates`` entry."""
    fitted: FittedDriver = load(SURROGATES, surrogate["type"]).load(path)
    return fitted


def load_surrogate(surrogate: Mapping[str, Any], path: Path) -> Surrogate:
    """The same for one that is a potential. Raises `ParameterError` if its type has no value."""
    fitted = load_driver(surrogate, path)
    if not isinstance(fitted, Surrogate):
        raise ParameterError(f"surrogate: a {surrogate['type']!r} is a driver without a value, not a potential")
    return fitted
