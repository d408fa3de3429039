"""The sum of two exponential decays."""

import numpy as np

from rnshmc.types import Array

TIMES = np.linspace(0.25, 15.0, 40)


class Decay:
    """a_1 exp(-k_1 t) + a_2 exp(-k_2 t) at 40 times, shape (40,), of (a_1, k_1, a_2, k_2)."""

    dim = 4

    def forward(self, x: Array) -> Array:
        outputs: Array = x[0] * np.exp(-x[1] * TIMES) + x[2] * np.exp(-x[3] * TIMES)
        return outputs

    def jvp(self, x: Array, v: Array) -> Array:
        product: Array = self._jacobian(x) @ v
        return product

    def vjp(self, x: Array, w: Array) -> Array:
        product: Array = w @ self._jacobian(x)
        return product

    def _jacobian(self, x: Array) -> Array:
        fast, slow = np.exp(-x[1] * TIMES), np.exp(-x[3] * TIMES)
        return np.column_stack((fast, -x[0] * TIMES * fast, slow, -x[2] * TIMES * slow))
