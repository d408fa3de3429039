"""Groups of data with different likelihoods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.base import Bound, Likelihood, Observed
from rnshmc.inference.exact.likelihoods.independent import finite_rows
from rnshmc.inference.exact.likelihoods.own import Custom
from rnshmc.types import Array


@dataclass(frozen=True)
class Grouped:
    """Likelihoods of the arrays of the data, by name. Parameters of one name in several of them are one parameter."""

    likelihoods: dict[str, Likelihood]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all unknown parameters, each once."""
        return tuple(dict.fromkeys(name for group in self.likelihoods.values() for name in group.names))

    @property
    def bounds(self) -> dict[str, Bound]:
        """Bounds of all unknown parameters; a `ParameterError` if groups give one parameter different bounds."""
        bounds: dict[str, Bound] = {}
        for name, bound in (item for group in self.likelihoods.values() for item in group.bounds.items()):
            if bounds.setdefault(name, bound) != bound:
                raise ParameterError(f"likelihood: groups give {name!r} the bounds {bounds[name]} and {bound}")
        return bounds

    def observing(self, data: Mapping[str, Array]) -> "ObservedGroups":
        """The likelihood of these data; a `ParameterError` names the array that cannot be used."""
        parts, start = [], 0
        for name, array in data.items():
            group, size = self.likelihoods[name], int(np.size(array))
            columns = np.array([self.names.index(own) for own in group.names], dtype=np.intp)
            try:
                observed = group.observing({"": array})
            except ParameterError as error:
                raise ParameterError(f"likelihood of {name!r}: {error}") from error
            parts.append(_Part(observed, slice(start, start + size), columns))
            start += size
        return ObservedGroups(tuple(parts))


@dataclass(frozen=True, eq=False)
class _Part:
    """A bound likelihood, its range of outputs, and the columns of its own parameters."""

    observed: Observed
    outputs: slice
    own: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ObservedGroups:
    """An `Observed` of several groups, whose predictors are concatenated."""

    parts: tuple[_Part, ...]

    @property
    def present(self) -> npt.NDArray[np.intp]:
        """Indices of the outputs with data."""
        return np.concatenate([part.outputs.start + part.observed.present for part in self.parts])

    def predictors(self, outputs: Array) -> Array:
        """Predictors of the rows."""
        return np.hstack([part.observed.predictors(outputs[:, part.outputs]) for part in self.parts])

    def outputs(self, predictors: Array) -> Array:
        """Outputs with data, of the rows of predictors."""
        return np.hstack(self._each(lambda part, rows: part.observed.outputs(rows), predictors))

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:
        """Jacobian of the predictors at one position."""
        return np.vstack([part.observed.jacobian(outputs[part.outputs], jacobian[part.outputs]) for part in self.parts])

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:
        """Derivative by the outputs at one position."""
        split = zip(self.parts, self._split(slopes), strict=True)
        return np.concatenate([part.observed.pulled_back(outputs[part.outputs], own) for part, own in split])

    def potential(self, predictors: Array, own: Array) -> tuple[Array, Array, Array]:
        """Sum of the groups; inf where one of them is."""
        answers = self._each(lambda part, rows: part.observed.potential(rows, own[:, part.own]), predictors)
        values = np.sum([value for value, _, _ in answers], axis=0)
        own_slopes = np.zeros(own.shape)
        for part, (_, _, slopes) in zip(self.parts, answers, strict=True):
            own_slopes[:, part.own] += slopes
        return finite_rows(values, np.hstack([slopes for _, slopes, _ in answers]), own_slopes)

    def curvatures(self, predictors: Array, own: Array) -> Array:
        """Expected second derivatives by the predictors."""
        return np.hstack(self._each(lambda part, rows: part.observed.curvatures(rows, own[:, part.own]), predictors))

    def simulated(self, predictors: Array, own: Array, rng: np.random.Generator) -> Array:
        """New observations at the entries with data."""
        answers = self._each(lambda part, rows: part.observed.simulated(rows, own[:, part.own], rng), predictors)
        return np.hstack(answers)

    def _each(self, ask: Callable[[_Part, Array], Any], predictors: Array) -> list[Any]:
        return [ask(part, rows) for part, rows in zip(self.parts, self._split(predictors), strict=True)]

    def _split(self, predictors: Array) -> list[Array]:
        """Columns of each group."""
        ends = np.cumsum([len(part.observed.present) for part in self.parts])[:-1]
        return np.split(predictors, ends, axis=-1)


def make_likelihood(likelihood: Any, data_names: Sequence[str]) -> Likelihood:
    """The likelihood of data with these names: one for all, a mapping from names to likelihoods, or a function."""
    if isinstance(likelihood, Mapping):
        _check_names(likelihood, data_names)
        return Grouped({name: _one(likelihood[name], f"likelihood of {name!r}") for name in data_names})
    return _one(likelihood, "likelihood")


def _one(likelihood: Any, what: str) -> Likelihood:
    if isinstance(likelihood, type):
        raise ParameterError(f"{what}: got the class {likelihood.__name__}, expected {likelihood.__name__}(...)")
    if isinstance(likelihood, Likelihood):
        return likelihood
    if callable(likelihood):
        return Custom(likelihood)
    raise ParameterError(f"{what}: got {likelihood!r:.80}, expected a likelihood such as rnshmc.Gaussian(sd=0.1)")


def _check_names(likelihoods: Mapping[str, Any], data_names: Sequence[str]) -> None:
    if list(data_names) == [""]:
        raise ParameterError("likelihood: got a mapping, but data without names; give the data as a mapping, too")
    if without := [name for name in likelihoods if name not in data_names]:
        raise ParameterError(f"likelihood: no data are named {without[0]!r}; there are {', '.join(data_names)}")
    if without := [name for name in data_names if name not in likelihoods]:
        raise ParameterError(f"likelihood: none is given for the data {without[0]!r}; there is one for each array")
