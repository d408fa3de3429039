"""Priors from the arguments of a model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.inference.exact.differentiated import RowFunction
from rnshmc.inference.exact.priors.base import Normal, NormalPrior, Prior
from rnshmc.inference.exact.priors.named import KINDS, frozen_prior, is_frozen, named_numbers, named_prior
from rnshmc.inference.given import plain
from rnshmc.types import Array, Potential


def make_prior(prior: Any, names: Sequence[str]) -> Prior:
    """The prior of the parameters with these names.

    Parameters
    ----------
    prior
        One of

        - None: flat;
        - `Normal`, or a pair (mean, sd) for independent ones;
        - a mapping from names to distributions: tuples such as ("normal", 0, 1) or ("gamma", shape, rate), see
          `rnshmc.inference.exact.priors.named.KINDS`, frozen continuous distributions of scipy.stats, or `Normal`; a
          tuple of names maps to a `Normal` of all of them. Parameters without an entry have a flat prior;
        - a `Potential`;
        - a function of one point, shape (d,), that returns the log density, computed by JAX or NumPy, or the pair of it
          and its gradient.
    names
        Names of the d parameters.

    Raises
    ------
    ParameterError
        If the prior cannot be used.
    """
    if prior is None:
        return Prior()
    if isinstance(prior, Normal) or _is_pair(prior):
        return _normal(prior if isinstance(prior, Normal) else Normal(*prior), names)
    if isinstance(prior, Mapping):
        return _product(prior, names)
    if isinstance(prior, Potential):
        if prior.dim != len(names):
            raise ParameterError(f"prior: the potential has {prior.dim} parameters, there are {_listed(names)}")
        prior = _log_density_of(prior)
    if callable(prior) and not isinstance(prior, type) and not is_frozen(prior):
        return _FunctionPrior(RowFunction(prior, "prior", np.ones(len(names))))
    if is_frozen(prior) or (isinstance(prior, tuple) and prior and isinstance(prior[0], str) and prior[0] in KINDS):
        raise ParameterError(
            f"prior: got one distribution, {prior!r:.80}; give one for each name: {{{names[0]!r}: ..., ...}}"
        )
    raise ParameterError(
        f"prior: got {prior!r:.80}, expected None, a pair (mean, sd), rnshmc.Normal, a mapping from names of "
        "parameters to distributions, a Potential, or a function that returns the log density"
    )


@dataclass(frozen=True, eq=False)
class _FunctionPrior(Prior):
    """A log density given as a function."""

    log_density: RowFunction

    def potential(self, x: Array) -> tuple[Array, Array]:
        values, gradients = self.log_density(x)
        return -values, -gradients


@dataclass(frozen=True, eq=False)
class _Product(Prior):
    """Independent groups of ``dim`` parameters, by their indices; parameters in no group have a flat prior."""

    dim: int
    groups: tuple[tuple[npt.NDArray[np.intp], Prior], ...]

    @property
    def bounds(self) -> dict[int, tuple[float, float]]:
        pairs = {int(columns[i]): pair for columns, prior in self.groups for i, pair in prior.bounds.items()}
        return dict(sorted(pairs.items()))

    @property
    def angles(self) -> dict[int, tuple[float, float]]:
        return {int(columns[i]): pair for columns, prior in self.groups for i, pair in prior.angles.items()}

    @property
    def scale(self) -> Array:
        whole = np.full(self.dim, np.nan)
        for columns, prior in self.groups:
            whole[columns] = np.nan if prior.scale is None else prior.scale
        return whole

    def potential(self, x: Array) -> tuple[Array, Array]:
        values, gradients = np.zeros(len(x)), np.zeros(x.shape)
        for columns, prior in self.groups:
            part, gradients[:, columns] = prior.potential(x[:, columns])
            values += part
        return values, np.where(np.isfinite(values)[:, None], gradients, 0.0)

    def draws(self, rng: np.random.Generator, n: int) -> Array | None:
        drawn = np.full((n, self.dim), np.nan)
        for columns, prior in self.groups:
            part = prior.draws(rng, n)
            if part is None:
                return None
            drawn[:, columns] = part
        return None if np.isnan(drawn).any() else drawn


def _log_density_of(potential: Potential) -> Callable[[Array], tuple[float, Array]]:
    """The log density of a potential at one point, with its gradient; -inf where it cannot be evaluated."""

    def log_density(x: Array) -> tuple[float, Array]:
        try:
            value, gradient = potential.value_and_grad(x)
        except NumericalError:
            return -np.inf, np.zeros(len(x))
        return -value, -gradient

    return log_density


def _is_pair(prior: Any) -> bool:
    return isinstance(prior, tuple) and len(prior) == 2 and not any(isinstance(part, str) for part in prior)


def _normal(prior: Normal, names: Sequence[str]) -> NormalPrior:
    if prior.dim not in (None, len(names)):
        some = tuple(names[: prior.dim])
        raise ParameterError(
            f"prior: a normal prior of {prior.dim} parameters was given, there are {_listed(names)}; for a normal "
            f"prior of some of them, give a mapping: {{{some}: rnshmc.Normal(...), ...}}"
        )
    return prior.over(len(names))


def _product(prior: Mapping[Any, Any], names: Sequence[str]) -> _Product:
    """The prior of a mapping; distributions of one kind are computed together."""
    groups: list[tuple[npt.NDArray[np.intp], Prior]] = []
    named: dict[str, list[tuple[int, list[float]]]] = {}
    seen: set[str] = set()
    for key, distribution in prior.items():
        columns = _columns(key, names, seen)
        if isinstance(distribution, Normal):
            groups.append((columns, _normal(distribution, [names[column] for column in columns])))
        elif len(columns) > 1:
            raise ParameterError(
                f"prior of {key!r}: expected rnshmc.Normal for several names, got {distribution!r:.80}"
            )
        elif isinstance(distribution, tuple) and distribution:
            word, numbers = named_numbers(names[columns[0]], distribution)
            named.setdefault(word, []).append((int(columns[0]), numbers))
        elif is_frozen(distribution):
            plain([*getattr(distribution, "args", ()), *getattr(distribution, "kwds", {}).values()], f"prior of {key}")
            groups.append((columns, frozen_prior(distribution)))
        else:
            raise ParameterError(
                f'prior of {key}: expected a distribution such as ("normal", 0, 1), rnshmc.Normal or a frozen '
                f"continuous distribution of scipy.stats, got {distribution!r:.80}"
            )
    for word, entries in named.items():
        indices = np.array([column for column, _ in entries], dtype=np.intp)
        groups.append((indices, named_prior(word, np.array([numbers for _, numbers in entries]).T.copy())))
    return _Product(len(names), tuple(groups))


def _columns(key: Any, names: Sequence[str], seen: set[str]) -> npt.NDArray[np.intp]:
    """Indices of the names in a key, which are added to ``seen``."""
    keys = key if isinstance(key, tuple) else (key,)
    for name in keys:
        if name not in names:
            raise ParameterError(f"prior: no parameter is named {name!r}; there are {_listed(names)}")
        if name in seen:
            raise ParameterError(f"prior: {name!r} has two entries, expected at most one")
        seen.add(name)
    return np.array([names.index(name) for name in keys], dtype=np.intp)


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)}: {', '.join(names)}"
