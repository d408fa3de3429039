"""Forward models whose outputs are observed: expensive to run, with a likelihood and a prior that cost nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import EvaluationError, ParameterError
from rnshmc.inference.exact.density import reason
from rnshmc.inference.exact.evaluation import Answer, Cost, Evaluation, Run, failed
from rnshmc.inference.exact.likelihoods.base import Likelihood
from rnshmc.inference.exact.likelihoods.groups import make_likelihood
from rnshmc.inference.exact.posed import Posed
from rnshmc.inference.exact.priors.making import make_prior
from rnshmc.types import Array

Forward = Callable[[Array], Any]


class Model:
    """A forward model, what was observed of its outputs, and a prior.

    `rnshmc.sample` learns the outputs F, not the density. Likelihood and prior are evaluated as they are, so that an
    unknown scale of the noise costs no run, and runs serve other data.

    Parameters
    ----------
    forward
        F(x) for the model's parameters, shape (p,): a vector, a matrix, or a mapping from names to arrays.
    data
        Observations, as the model returns them; NaN where there is none. Of a mapping, what the data do not name is
        ignored.
    likelihood
        Such as ``rnshmc.Gaussian(sd=0.1)``. Unknown scales, ``rnshmc.Gaussian(sd="sigma")``, are parameters that follow
        the model's in x. For data in a mapping, one for all or a mapping with one for each.
    prior
        See `rnshmc.inference.exact.priors.make_prior`; None for a flat one.
    jacobian
        J(x), shape (m, p), of the outputs in one vector.
    vjp
        J(x)'v, shape (p,), as ``vjp(x, v)``: an adjoint solve. At most one of the two.

    Raises
    ------
    ParameterError
        If an argument cannot be used.
    """

    def __init__(
        self,
        forward: Forward,
        data: Any,
        *,
        likelihood: Likelihood | Mapping[str, Likelihood],
        prior: Any = None,
        jacobian: Callable[[Array], Any] | None = None,
        vjp: Callable[[Array, Array], Any] | None = None,
    ) -> None:
        if not callable(forward):
            raise ParameterError(f"forward: expected a function of the parameters, got {forward!r:.80}")
        if jacobian is not None and vjp is not None:
            raise ParameterError("jacobian, vjp: give one of them")
        named = _named(data)
        self._likelihood = make_likelihood(likelihood, list(named))
        self._observed = self._likelihood.observing(named)
        self._shapes = {name: array.shape for name, array in named.items()}
        self._prior = prior
        self._forward, self._jacobian, self._vjp = forward, jacobian, vjp

    @property
    def own(self) -> tuple[str, ...]:
        """Names of the parameters of the likelihood, which follow the model's."""
        return self._likelihood.names

    @property
    def digest(self) -> str | None:
        """That of the forward model, if it has one: runs of it are known by it."""
        return getattr(self._forward, "digest", None)

    def posed(self, names: Sequence[str]) -> Posed:
        """The posterior of the parameters with these names, the likelihood's last.

        Raises
        ------
        ParameterError
            If the prior does not fit them.
        """
        return Posed(self._observed, make_prior(self._prior, names), len(names) - len(self.own))

    def runner(self, posed: Posed) -> "Runner":
        """What workers run."""
        return Runner(self._forward, self._shapes, posed, self._jacobian, self._vjp)

    def bounds(self, posed: Posed) -> dict[int, tuple[float | None, float | None]]:
        """Bounds that the prior and the likelihood imply, by the number of the parameter."""
        own = {posed.inputs + k: self._likelihood.bounds[name] for k, name in enumerate(self.own)}
        return {**posed.prior.bounds, **{k: _both(posed.prior.bounds.get(k), pair) for k, pair in own.items()}}


@dataclass(frozen=True, eq=False)
class Runner:
    """A forward model on a worker; errors in it become failed evaluations."""

    forward: Forward
    shapes: Mapping[str, tuple[int, ...]]
    posed: Posed
    jacobian: Callable[[Array], Any] | None
    vjp: Callable[[Array, Array], Any] | None

    @property
    def products(self) -> int:
        """Products with the Jacobian or its transpose that a gradient takes; 0 if there is none."""
        if self.vjp is not None:
            return 1
        return 0 if self.jacobian is None else self.posed.inputs

    def evaluate(self, x: Array, *, gradient: bool) -> Answer:
        """A run at the inputs of ``x``, shape (d,); with derivatives of its outputs if requested and there are any.

        The value of the evaluation is 0: it is read off the run by `Posed.read`.

        Raises
        ------
        EvaluationError
            If no other point can be evaluated either.
        KeyboardInterrupt
            After Ctrl-C.
        """
        inputs = self.posed.key(x)
        gradient = gradient and self.products > 0
        try:
            outputs = flattened(self.forward(inputs.copy()), self.shapes)
        except (EvaluationError, KeyboardInterrupt):
            raise
        except BaseException as error:  # `sys.exit` in a wrapped program, and panics of Rust, which are no `Exception`
            return failed(inputs, reason(error), gradient=False)
        plain = Evaluation(inputs, 0.0, with_gradient=gradient or not self.products, run=Run(outputs))
        if not gradient or not np.isfinite(self.posed.observed.predictors(outputs[None])).all():
            return plain, Cost()
        cost = Cost(gradients=self.products)
        try:
            return Evaluation(inputs, 0.0, run=self._differentiated(x, outputs)), cost
        except (EvaluationError, KeyboardInterrupt):
            raise
        except BaseException as error:
            return Evaluation(inputs, 0.0, None, reason(error), run=Run(outputs)), cost

    def _differentiated(self, x: Array, outputs: Array) -> Run:
        inputs = self.posed.key(x)
        if self.jacobian is not None:
            jacobian = _real(self.jacobian(inputs.copy()), "the Jacobian")
            _check_shape("the Jacobian", jacobian, (len(outputs), len(inputs)))
            return Run(outputs, jacobian)
        assert self.vjp is not None
        along = self.posed.pulling(x, outputs)
        pulled = _real(self.vjp(inputs.copy(), along.copy()), "vjp")
        _check_shape("vjp", pulled, inputs.shape)
        return Run(outputs, along=along, pulled=pulled)


def flattened(returned: Any, shapes: Mapping[str, tuple[int, ...]]) -> Array:
    """What a forward model returned as one vector, the arrays of a mapping one after the other as in the data.

    Raises
    ------
    ParameterError
        If something is missing, or has another shape than the data.
    """
    arrays = []
    for name, shape in shapes.items():
        what = f"the forward model's output {name!r}" if name else "the forward model's output"
        if name and not (isinstance(returned, Mapping) and name in returned):
            raise ParameterError(f"{what} is missing: the data name it")
        array = _real(returned[name] if name else returned, what)
        if array.ndim < len(shape):
            array = np.atleast_1d(array)
        _check_shape(what, array, shape)
        arrays.append(array.ravel())
    outputs: Array = np.concatenate(arrays)
    outputs[~np.isfinite(outputs)] = np.nan
    return outputs


def _named(data: Any) -> dict[str, Array]:
    """Data by name; a plain array has the name ""."""
    given = data if isinstance(data, Mapping) else {"": data}
    if not given:
        raise ParameterError("data: expected at least one array, got an empty mapping")
    return {name: np.atleast_1d(_numbers(array, name)) for name, array in given.items()}


def _numbers(array: Any, name: str) -> Array:
    try:
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"data{f' of {name}' if name else ''}: expected numbers, got {array!r:.80}") from None


def _both(
    first: tuple[float | None, float | None] | None, second: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    """The interval inside both."""
    if first is None:
        return second
    low = [bound for bound in (first[0], second[0]) if bound is not None]
    high = [bound for bound in (first[1], second[1]) if bound is not None]
    return max(low, default=None), min(high, default=None)


def _check_shape(what: str, array: npt.NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ParameterError(f"{what} has shape {array.shape}, expected {shape}")


def _real(returned: Any, what: str) -> Array:
    """What a function of the user returned, as doubles."""
    if np.iscomplexobj(returned):
        raise ParameterError(f"{what}: complex numbers, expected real ones")
    return np.asarray(returned, dtype=np.float64)
