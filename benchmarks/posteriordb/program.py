"""A Stan program of the database in a process of its own, compiled by httpstan, which threads must not call.

``python -m posteriordb.program FOLDER/NAME OUTPUT`` compiles it and writes its number of unconstrained parameters, 0
where it does not compile.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from peers.remote import RemoteModel, RemotePotential
from posteriordb.database import read

from rnshmc.errors import NumericalError
from rnshmc.types import Array

MOST_PARAMETERS = 2000


class Program:
    """The potential of a program's unconstrained parameters, and what the reference has draws of.

    Parameters
    ----------
    folder
        Of a database, with the posterior's name as its last part: ``posteriordb/garch-garch11``.
    """

    def __init__(self, folder: Path) -> None:
        import httpstan.models

        posterior = read(folder.parent, folder.name)
        name = httpstan.models.calculate_model_name(posterior.code)
        self._module = httpstan.models.import_services_extension_module(name)
        self._data = posterior.data
        written = [_bracketed(name) for name in self._module.constrained_param_names(self._data)]
        self._columns = [written.index(name) for name in posterior.names]
        self.dim = self._dimension()

    def value(self, q: Array) -> float:
        return self._evaluated(lambda: self._module.log_prob(self._data, q.tolist(), True))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        value = self.value(q)
        gradient = -np.array(self._module.log_prob_grad(self._data, q.tolist(), True))
        if not np.isfinite(gradient).all():
            raise NumericalError("the gradient is not finite")
        return value, gradient

    def forward(self, q: Array) -> Array:
        """Constrained parameters and what follows from them, those of the reference."""
        return np.array(self._module.write_array(self._data, q.tolist(), True, False), dtype=np.float64)[self._columns]

    def _evaluated(self, log_density: Callable[[], float]) -> float:
        try:
            value = -log_density()
        except (RuntimeError, ValueError) as error:
            raise NumericalError(str(error)) from error
        if not np.isfinite(value):
            raise NumericalError("the log density is not finite")
        return value

    def _dimension(self) -> int:
        for dim in range(MOST_PARAMETERS):
            try:
                self._module.log_prob(self._data, [0.0] * dim, True)
            except (RuntimeError, ValueError) as error:
                if "number of parameters" in str(error):
                    continue
            return dim
        raise NumericalError(f"more than {MOST_PARAMETERS} parameters")


class RemoteProgram(RemotePotential, RemoteModel):
    """A program that another process evaluates."""

    def __init__(self, folder: Path, dim: int) -> None:
        super().__init__("posteriordb.program:Program", folder, dim, python=(sys.executable,))

    def variables(self, q: Array) -> Array:
        """What the reference has draws of, (..., k), at unconstrained parameters, (..., d)."""
        rows = q.reshape(-1, q.shape[-1])
        return np.array([self.forward(row) for row in rows]).reshape(*q.shape[:-1], -1)


def _bracketed(name: str) -> str:
    variable, *index = name.split(".")
    return f"{variable}[{','.join(index)}]" if index else variable


if __name__ == "__main__":
    import stan

    folder = Path(sys.argv[1])
    posterior = read(folder.parent, folder.name)
    try:
        stan.build(posterior.code, data=posterior.data)  # in httpstan's cache, as PyStan and `Program` find it
    except ValueError as error:  # what PyStan raises where stanc or the compiler refuses
        print(error)
        dim = 0
    else:
        dim = Program(folder).dim
    Path(sys.argv[2]).write_text(f"{dim}\n")
