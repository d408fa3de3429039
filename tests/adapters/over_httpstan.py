"""httpstan's compiled models with the interface of ``bridgestan.StanModel``: pip alone brings a compiler of Stan.

httpstan leaves out constant terms whatever ``propto`` says, and draws generated quantities from one seed.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpstan.models
import numpy as np

from rnshmc.types import Array


class StanModel:
    """A Stan program, compiled, with its data."""

    def __init__(self, stan_file: str, data: dict[str, Any]) -> None:
        code = Path(stan_file).read_text(encoding="utf-8")
        name = httpstan.models.calculate_model_name(code)
        try:
            self._module = httpstan.models.import_services_extension_module(name)
        except KeyError:
            asyncio.run(httpstan.models.build_services_extension_module(code))
            self._module = httpstan.models.import_services_extension_module(name)
        self._data = json.loads(json.dumps(data, default=lambda array: array.tolist()))

    def param_unc_num(self) -> int:
        for dim in range(1000):
            try:
                self._module.log_prob(self._data, [0.0] * dim, True)
            except RuntimeError as error:
                if "number of parameters" in str(error):
                    continue
            return dim
        raise AssertionError("more than 1000 parameters")

    def param_unc_names(self) -> list[str]:
        return [f"unconstrained.{i + 1}" for i in range(self.param_unc_num())]

    def param_names(self, *, include_tp: bool, include_gq: bool) -> list[str]:
        names: list[str] = self._module.constrained_param_names(self._data)
        zeros = np.zeros(self.param_unc_num())
        own, transformed = (len(self._written(zeros, both, False)) for both in (False, True))
        return names[:own] + include_tp * names[own:transformed] + include_gq * names[transformed:]

    def param_constrain(self, theta_unc: Array, *, include_tp: bool, include_gq: bool, rng: Any) -> Array:
        return self._written(theta_unc, include_tp, include_gq)

    def log_density_gradient(self, theta_unc: Array, *, propto: bool, jacobian: bool) -> tuple[float, Array]:
        x = theta_unc.tolist()
        value = self._module.log_prob(self._data, x, jacobian)
        return value, np.array(self._module.log_prob_grad(self._data, x, jacobian))

    def new_rng(self, seed: int) -> None:
        return

    def _written(self, x: Array, include_tp: bool, include_gq: bool) -> Array:
        return np.array(self._module.write_array(self._data, x.tolist(), include_tp, include_gq), dtype=np.float64)
