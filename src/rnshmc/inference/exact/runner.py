"""A forward model on a worker: its runs, with derivatives of the outputs where they are asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import EvaluationError, ParameterError
from rnshmc.inference.exact.density import reason
from rnshmc.inference.exact.evaluation import Answer, Cost, Evaluation, Run, failed
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.given import numbers
from rnshmc.types import Array

Forward = Callable[[Array], Any]


@dataclass(frozen=True, eq=False)
class Runner:
    """A forward model on a worker; errors in it become failed evaluations."""

    forward: Forward
    forward_posterior: ForwardPosterior
    jacobian: Callable[[Array], Any] | None
    vjp: Callable[[Array, Array], Any] | None

    @property
    def products(self) -> int:
        """Products with the Jacobian or its transpose that a gradient takes; 0 if there is none."""
        if self.vjp is not None:
            return 1
        return 0 if self.jacobian is None else self.forward_posterior.inputs

    def evaluate(self, x: Array, *, gradient: bool) -> Answer:
        """A run at the inputs of ``x``, shape (d,); with derivatives of its outputs if requested and there are any.

        The value of the evaluation is 0: it is read off the run by `ForwardPosterior.read`.

        Raises
        ------
        EvaluationError
            If no other point can be evaluated either.
        KeyboardInterrupt
            After Ctrl-C.
        """
        inputs = self.forward_posterior.key(x)
        gradient = gradient and self.products > 0
        try:
            outputs = flattened(self.forward(inputs.copy()), self.forward_posterior.data)
        except (EvaluationError, KeyboardInterrupt):
            raise
        except BaseException as error:  # `sys.exit` in a wrapped program, and panics of Rust, which are no `Exception`
            return failed(inputs, reason(error), gradient=False)
        plain = Evaluation(inputs, 0.0, with_gradient=gradient or not self.products, run=Run(outputs))
        if not gradient or not np.isfinite(self.forward_posterior.observed.predictors(outputs[None])).all():
            return plain, Cost()
        cost = Cost(gradients=self.products)
        try:
            return Evaluation(inputs, 0.0, run=self._differentiated(x, outputs)), cost
        except (EvaluationError, KeyboardInterrupt):
            raise
        except BaseException as error:
            return Evaluation(inputs, 0.0, None, reason(error), run=Run(outputs)), cost

    def _differentiated(self, x: Array, outputs: Array) -> Run:
        inputs = self.forward_posterior.key(x)
        if self.jacobian is not None:
            jacobian = numbers(self.jacobian(inputs.copy()), "the Jacobian")
            _check_shape("the Jacobian", jacobian, (len(outputs), len(inputs)))
            return Run(outputs, jacobian)
        assert self.vjp is not None
        along = self.forward_posterior.pulling(x, outputs)
        pulled = numbers(self.vjp(inputs.copy(), along.copy()), "vjp")
        _check_shape("vjp", pulled, inputs.shape)
        return Run(outputs, along=along, pulled=pulled)


def flattened(returned: Any, data: Mapping[str, Array]) -> Array:
    """What a forward model returned as one vector, the arrays of a mapping one after the other as in the data.

    Raises
    ------
    ParameterError
        If something is missing, or has another shape than the data.
    """
    arrays = []
    for name, shape in ((name, array.shape) for name, array in data.items()):
        what = f"the forward model's output {name!r}" if name else "the forward model's output"
        if name and not (isinstance(returned, Mapping) and name in returned):
            raise ParameterError(f"{what} is missing: the data name it")
        array = numbers(returned[name] if name else returned, what)
        if array.ndim < len(shape):
            array = np.atleast_1d(array)
        _check_shape(what, array, shape)
        arrays.append(array.ravel())
    outputs: Array = np.concatenate(arrays)
    outputs[~np.isfinite(outputs)] = np.nan
    return outputs


def _check_shape(what: str, array: npt.NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ParameterError(f"{what} has shape {array.shape}, expected {shape}")
