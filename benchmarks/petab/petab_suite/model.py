"""A PEtab problem, compiled by AMICI: python -m petab_suite.model --problem F/NAME --build B --output O ...

Writes the number of estimated parameters, or 0 and the reason where AMICI does not build the model, or there are too
many of them.
"""

import argparse
import json
import logging
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
import petab.v1
import pypesto
import pypesto.petab
from amici.importers.sbml import SBMLException
from petab_suite.problems import yaml_of

from rnshmc.errors import NumericalError
from rnshmc.types import Array


def load(problem: Path, build: Path) -> tuple[pypesto.Problem, Array]:
    """A problem by its folder, and the nominal values of its estimated parameters on their scales.

    AMICI compiles it into ``build``, or finds it there.
    """
    source = petab.v1.Problem.from_yaml(str(yaml_of(problem)))
    importer = pypesto.petab.PetabImporter(source, output_folder=str(build), model_name=f"model_{problem.name}")
    return importer.create_problem(), np.array(source.x_nominal_free_scaled, dtype=np.float64)


REFUSALS = (RuntimeError, ValueError, NotImplementedError, CalledProcessError, SBMLException)
"""What AMICI, PEtab and the compiler raise about a model. An environment that is broken raises others."""


class ObjectivePotential:
    """The objective of a problem of pyPESTO, a negative log posterior density, as a potential."""

    def __init__(self, problem: pypesto.Problem) -> None:
        self._objective = problem.objective
        self.dim = problem.dim

    def value(self, q: Array) -> float:
        return _finite(float(self._objective(q)))

    def gradient(self, q: Array) -> Array:
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        value, gradient = self._objective(q, sensi_orders=(0, 1))
        if not np.isfinite(gradient).all():
            raise NumericalError("the gradient is not finite")
        return _finite(float(value)), np.asarray(gradient)


def _finite(value: float) -> float:
    if not np.isfinite(value):
        raise NumericalError("the simulation failed")
    return value


@dataclass(frozen=True)
class Built:
    """Whether a problem is ready to be sampled."""

    dim: int
    """Number of estimated parameters; 0 where the problem is not built."""
    reason: str
    """Why it is not; empty where it is."""


def built(problem: Path, build: Path, max_parameters: int) -> Built:
    """Compile a problem, and evaluate it once with its gradient at the nominal values."""
    dim = len(petab.v1.Problem.from_yaml(str(yaml_of(problem))).x_free_ids)
    if dim > max_parameters:
        return Built(0, f"{dim} estimated parameters")
    try:
        made, nominal = load(problem, build)
        ObjectivePotential(made).value_and_grad(nominal)
    except NumericalError as error:
        return Built(0, f"at the nominal values {error}")
    except REFUSALS as error:
        traceback.print_exc()
        return Built(0, f"{type(error).__name__}: {error}".splitlines()[0][:200])
    return Built(dim, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("problem", "build", "output"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    parser.add_argument("--max-parameters", type=int, required=True)
    arguments = parser.parse_args()
    logging.getLogger("amici").setLevel(logging.WARNING)
    made = built(arguments.problem, arguments.build, arguments.max_parameters)
    arguments.output.write_text(json.dumps(asdict(made)) + "\n")


if __name__ == "__main__":
    main()
