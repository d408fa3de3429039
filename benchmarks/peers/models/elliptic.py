"""The forward model of paper A's elliptic problem on dolfinx."""

from pathlib import Path

import numpy as np

from rnshmc.targets.elliptic import EllipticForwardModel
from rnshmc.targets.elliptic_settings import EllipticSettings
from rnshmc.targets.forward_data import ForwardData
from rnshmc.types import Array


class Elliptic:
    """The pressure at the points of a data file as a function of the Karhunen-Loeve coefficients."""

    def __init__(self, data: Path) -> None:
        points = ForwardData.load(data).points
        self._model = EllipticForwardModel(points, EllipticSettings())
        self.dim = self._model.dim
        self.outputs = len(points)

    def forward(self, x: Array) -> Array:
        return self._model.predict(x)

    def jvp(self, x: Array, v: Array) -> Array:
        """By one tangent solve."""
        at = self._model.linearise(x)
        load = at.solver.energy_matrix(at.u).T @ (at.c * (at.modes @ v))
        at.solver.factorise(at.c)
        tangent: Array = at.observe @ at.solver.solve(-np.asarray(load))
        return tangent

    def vjp(self, x: Array, w: Array) -> Array:
        """By one adjoint solve."""
        return self._model.linearise(x).pullback(w)
