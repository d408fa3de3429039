"""Posteriors of a forward model that is observed with Gaussian noise of known size."""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from rnshmc.inference.exact.forward import Model
from rnshmc.inference.exact.likelihoods.named import Gaussian
from rnshmc.inference.exact.runner import Forward
from rnshmc.types import Array


class LeastSquares(Model):
    """The log density -sum_i ((F_i(x) - y_i) / s_i)^2 / 2 + log prior(x), with its constants: the simplest `Model`.

    Parameters
    ----------
    forward
        F(x), for x of shape (d,).
    data
        Observations y, of the shape of F(x); NaN where there is none.
    noise_sd
        Standard deviation s of the noise, one number or as many as data.
    prior, jacobian, vjp
        As in `Model`.

    Raises
    ------
    ParameterError
        If an argument cannot be used.
    """

    def __init__(
        self,
        forward: Forward,
        data: npt.ArrayLike,
        noise_sd: npt.ArrayLike,
        *,
        prior: Any = None,
        jacobian: Callable[[Array], Any] | None = None,
        vjp: Callable[[Array, Array], Any] | None = None,
    ) -> None:
        super().__init__(forward, data, likelihood=Gaussian(sd=noise_sd), prior=prior, jacobian=jacobian, vjp=vjp)
