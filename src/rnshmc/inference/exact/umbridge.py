"""Models behind UM-Bridge, a protocol over HTTP (Seelinger et al. 2023, JOSS 8(83), 4748).

This is a client of our own: that of the package `umbridge` has no time limit, and fails on malformed replies.
"""

import json
import time
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
import numpy.typing as npt

from rnshmc.errors import EvaluationError, ParameterError
from rnshmc.inference.exact.forward import Model
from rnshmc.inference.exact.likelihoods.base import Likelihood
from rnshmc.inference.exact.likelihoods.gaussian import Gaussian
from rnshmc.masking import mask_addresses
from rnshmc.types import Array

RETRIES = 3
"""Number of attempts, with pauses of 1, 2 and 4 times `PAUSE_S` seconds after them."""
PAUSE_S = 0.5


class ModelError(RuntimeError):
    """A server cannot evaluate this point, or sent a malformed reply."""


class UMBridge:
    """A log density behind a UM-Bridge server.

    With ``data``, the server runs the forward model of a `Model`, ``model``; without, its output is one number, the log
    density. A run is one request, a gradient one more. ``pool=`` sends several requests at a time to servers that can
    answer them.

    Parameters
    ----------
    url
        Address of the server, such as ``"http://localhost:4242"``.
    data, likelihood, prior
        As in `Model`.
    noise_sd
        Standard deviation of Gaussian noise, in place of ``likelihood``.
    model
        Name of the model on the server; optional if there is only one.
    config
        The model's configuration.
    request_limit
        Seconds after which an unanswered request is a failed evaluation.

    Raises
    ------
    ParameterError
        If the server has no such model, or the model has several input or output vectors.
    EvaluationError
        If no server answers at the address.
    """

    def __init__(
        self,
        url: str,
        data: npt.ArrayLike | None = None,
        noise_sd: npt.ArrayLike | None = None,
        *,
        prior: Any = None,
        likelihood: Likelihood | Mapping[str, Likelihood] | None = None,
        model: str | None = None,
        config: Mapping[str, Any] | None = None,
        request_limit: float = 600.0,
    ) -> None:
        if mask_addresses(url) != url:
            raise ParameterError("url: the address has a user name or password, which is not sent; leave it out")
        self._url = url.rstrip("/")
        self._limit = request_limit
        self._config = dict(config or {})
        self._name = self._chosen(model)
        self.dim = self._one_vector("InputSizes", "inputSizes")
        outputs = self._one_vector("OutputSizes", "outputSizes")
        support = self._ask("ModelInfo")["support"]
        if (data is None) != (noise_sd is None and likelihood is None) or not (noise_sd is None or likelihood is None):
            raise ParameterError(
                "data, noise_sd: give both, or data and likelihood, or none of them where the model is a log density "
                "itself"
            )
        if data is None and outputs != 1:
            raise ParameterError(
                f"data: the model {self._name!r} has {outputs} outputs; give what they were observed as"
            )
        self.has_gradient = bool(support.get("Gradient", False))
        self.model: Model | None = None
        if data is not None:
            chosen = likelihood if likelihood is not None else Gaussian(sd=noise_sd)
            vjp = self._vjp if self.has_gradient else None
            self.model = Model(self._outputs, data, likelihood=chosen, prior=prior, vjp=vjp)
            self.dim += len(self.model.own)

    def log_density(self, x: Array) -> float:
        """The model's output at ``x`` where that is the log density, for one request."""
        return float(self._outputs(x)[0])

    def gradient(self, x: Array) -> Array:
        """Its gradient, for one request."""
        return self._vjp(x, np.ones(1))

    def _outputs(self, x: Array) -> Array:
        return self._vector(self._ask("Evaluate", input=[x.tolist()]), "output", 0)

    def _vjp(self, x: Array, v: Array) -> Array:
        reply = self._ask("Gradient", outWrt=0, inWrt=0, input=[x.tolist()], sens=v.tolist())
        return self._vector(reply, "output", None)

    def _vector(self, reply: Mapping[str, Any], key: str, index: int | None) -> Array:
        """A vector in a reply."""
        try:
            entry = reply[key] if index is None else reply[key][index]
            vector: Array = np.array(entry, dtype=np.float64)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ModelError(f"the model server sent a malformed reply: {str(reply)[:100]}") from error
        return vector

    def _chosen(self, model: str | None) -> str:
        models = self._reply(Request(f"{self._url}/Info"))["models"]
        if model is None and len(models) == 1:
            return str(models[0])
        if model is None or model not in models:
            raise ParameterError(f"model: the server at {self._url} has {', '.join(models)}, not {model!r}")
        return model

    def _one_vector(self, path: str, key: str) -> int:
        """Length of the only input or output vector."""
        sizes = self._ask(path)[key]
        if len(sizes) != 1:
            raise ParameterError(f"model: {self._name!r} has {len(sizes)} {key} {sizes}, expected one vector")
        return int(sizes[0])

    def _ask(self, path: str, **content: Any) -> Any:
        body = json.dumps({"name": self._name, "config": self._config, **content}).encode()
        return self._reply(Request(f"{self._url}/{path}", body, {"Content-Type": "application/json"}))

    def _reply(self, request: Request) -> Any:
        for pause in [PAUSE_S * 2**i for i in range(RETRIES)]:
            try:
                return self._one_reply(request)
            except (URLError, HTTPException, ConnectionError) as error:
                trouble: Exception = error
            time.sleep(pause)
        raise EvaluationError(f"the model server at {self._url} does not answer: {trouble}") from trouble

    def _one_reply(self, request: Request) -> Any:
        try:
            with urlopen(request, timeout=self._limit) as response:
                content = response.read()
        except HTTPError as error:  # errors of the model are replies, too
            content = error.read()
            if not content.startswith(b"{"):
                raise ModelError(
                    f"the model server answered {error.code}: {content.decode(errors='replace')[:200]}"
                ) from error
        except TimeoutError as error:
            raise ModelError(f"the model server did not answer within request_limit = {self._limit:g} s") from error
        try:
            reply = json.loads(content)
        except ValueError as error:
            raise ModelError(f"the model server sent a reply that is not JSON: {content[:100]!r}") from error
        if isinstance(reply, dict) and "error" in reply:
            trouble = reply["error"]
            raise ModelError(f"{trouble.get('type')}: {trouble.get('message')}")
        return reply
