"""Models served by UM-Bridge, a protocol over HTTP (Seelinger et al. 2023, JOSS 8(83), 4748).

The client of the package `umbridge` is not used: it has no time limit, and fails on malformed replies.
"""

import json
import math
import time
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import URLError
from urllib.request import Request

import numpy as np
import numpy.typing as npt

from rnshmc.errors import EvaluationError, NumericalError, ParameterError
from rnshmc.inference.exact.forward import Model
from rnshmc.inference.exact.likelihoods.base import Likelihood
from rnshmc.inference.exact.likelihoods.named import Gaussian
from rnshmc.inference.exact.replies import ReplyTooLargeError, check_address, fetch
from rnshmc.types import Array

RETRIES = 3
"""Number of attempts; the second is made after `PAUSE_S` seconds, and the third after twice as many."""
PAUSE_S = 0.5
LARGEST_REPLY = 2**20
"""Maximum bytes of a reply besides its numbers: names of models, an error message."""
LARGEST_NUMBER = 100
"""Maximum bytes of a number in a reply with the white space around it; 17 digits with sign and exponent take 24."""
SHORTEST_SECRET = 4
"""Minimum length of an entry of ``config`` that is masked in messages of a server."""


class ModelError(NumericalError):
    """The server cannot evaluate this point, or sent a malformed reply."""


class UMBridge:
    """A log density served by UM-Bridge.

    With ``data``, the server runs the forward model of a `Model`, ``model``; without, its output is one number, the log
    density. A run is one request, a gradient one more. ``pool=`` sends several requests at a time, for servers that run
    models in parallel.

    Parameters
    ----------
    url
        Address of the server, such as ``"http://localhost:4242"``.
    data, likelihood, prior
        As in `Model`.
    noise_sd
        Standard deviation of Gaussian noise, instead of ``likelihood``.
    model
        Name of the model on the server; optional if there is only one.
    config
        The model's configuration. Messages do not contain its entries, which may be passwords.
    request_limit
        Seconds after which a request without a complete reply is a failed evaluation.

    Raises
    ------
    ParameterError
        If an argument cannot be used, the server has no such model or is not a UM-Bridge server, or the model has
        several input or output vectors.
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
        self._url = check_address(url)
        self._limit = _checked_limit(request_limit)
        self._config = _checked_config(config)
        self._name = self._chosen(model)
        self.dim = self._one_vector("InputSizes", "inputSizes")
        self._size = outputs = self._one_vector("OutputSizes", "outputSizes")
        support = self._described("ModelInfo", "support", dict)
        if (data is None) != (noise_sd is None and likelihood is None) or not (noise_sd is None or likelihood is None):
            raise ParameterError(
                "data, noise_sd: give both, or data and likelihood, or neither if the model is a log density itself"
            )
        if data is None and outputs != 1:
            raise ParameterError(f"data: the model {self._name!r} has {outputs} outputs; give the observations of them")
        self.has_gradient = bool(support.get("Gradient", False))
        self.model: Model | None = None
        if data is not None:
            chosen = likelihood if likelihood is not None else Gaussian(sd=noise_sd)
            vjp = self._vjp if self.has_gradient else None
            self.model = Model(self._outputs, data, likelihood=chosen, prior=prior, vjp=vjp)
            self.dim += len(self.model.own)
            if (shape := np.atleast_1d(data).shape) != (outputs,):
                raise ParameterError(
                    f"data: the model {self._name!r} has {outputs} outputs; expected as many data, got shape {shape}"
                )

    def log_density(self, x: Array) -> float:
        """The model's output at ``x`` where that is the log density, for one request."""
        return float(self._outputs(x)[0])

    def gradient(self, x: Array) -> Array:
        """Its gradient, for one request."""
        return self._vjp(x, np.ones(1))

    def _outputs(self, x: Array) -> Array:
        reply = self._ask("Evaluate", self._size, input=[x.tolist()])
        found = reply.get("output") if isinstance(reply, dict) else None
        return self._vector(found[0] if isinstance(found, list) and found else None, self._size, reply)

    def _vjp(self, x: Array, v: Array) -> Array:
        reply = self._ask("Gradient", len(x), outWrt=0, inWrt=0, input=[x.tolist()], sens=v.tolist())
        return self._vector(reply.get("output") if isinstance(reply, dict) else None, len(x), reply)

    def _vector(self, entry: Any, size: int, reply: Any) -> Array:
        """A vector of ``size`` numbers from an entry of a reply."""
        try:
            vector: Array = np.array(entry, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            vector = np.zeros(())
        if vector.shape != (size,):
            raise self._error(f"the model server sent a malformed reply, expected {size} numbers: {reply!r}")
        return vector

    def _chosen(self, model: str | None) -> str:
        models = self._described("Info", "models", list)
        if model is None and len(models) == 1:
            return str(models[0])
        if model is None or model not in models:
            known = ", ".join(map(str, models))
            raise ParameterError(f"model: the server at {self._url} has {known:.200}, not {model!r}")
        return model

    def _one_vector(self, path: str, key: str) -> int:
        """Length of the only input or output vector."""
        sizes = self._described(path, key, list)
        if not all(type(size) is int and size > 0 for size in sizes):
            raise ParameterError(f"url: {self._url}/{path} reports {key} {sizes!r:.80}, expected whole numbers")
        if len(sizes) != 1:
            raise ParameterError(f"model: {self._name!r} has {len(sizes)} {key} {sizes!r:.80}, expected one vector")
        return int(sizes[0])

    def _described(self, path: str, key: str, kind: type) -> Any:
        """An entry of the server's description of itself or its model; a `ParameterError` if there is none."""
        where = f"{self._url}/{path}"
        try:
            reply = self._reply(Request(where)) if path == "Info" else self._ask(path, 0)
        except ModelError as error:
            raise ParameterError(f"url: no server of UM-Bridge answers at {where}: {error}") from error
        if not (isinstance(reply, dict) and isinstance(found := reply.get(key), kind)):
            shown = self._masked(repr(reply))
            raise ParameterError(f"url: no server of UM-Bridge answers at {where}: {key!r} is missing in {shown}")
        return found

    def _ask(self, path: str, numbers: int, **content: Any) -> Any:
        body = json.dumps({"name": self._name, "config": self._config, **content}).encode()
        request = Request(f"{self._url}/{path}", body, {"Content-Type": "application/json"})
        return self._reply(request, LARGEST_REPLY + LARGEST_NUMBER * numbers)

    def _reply(self, request: Request, largest: int = LARGEST_REPLY) -> Any:
        for i in range(RETRIES):
            time.sleep(PAUSE_S * i)
            try:
                return self._one_reply(request, largest)
            except (URLError, HTTPException, ConnectionError) as error:
                trouble: Exception = error
        reason = self._masked(str(trouble) or type(trouble).__name__)
        raise EvaluationError(f"the model server at {self._url} does not answer: {reason}") from trouble

    def _one_reply(self, request: Request, largest: int) -> Any:
        try:
            status, content = fetch(request, seconds=self._limit, largest=largest)
        except TimeoutError as error:
            raise ModelError(f"the model server did not answer within request_limit = {self._limit:g} s") from error
        except ReplyTooLargeError as error:
            raise ModelError(f"the model server sent a reply of more than {largest} bytes") from error
        text = content.decode(errors="replace")
        if status >= 400 and not text.startswith("{"):  # errors of the model are replies, too
            raise self._error(f"the model server answered {status}: {text}")
        try:
            reply = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self._error(f"the model server sent a reply that is not JSON: {text}") from error
        if isinstance(reply, dict) and "error" in reply:
            trouble = reply["error"]
            explained = isinstance(trouble, dict) and {"type", "message"} <= trouble.keys()
            raise self._error(f"{trouble['type']}: {trouble['message']}" if explained else f"error: {trouble}")
        return reply

    def _error(self, text: str) -> ModelError:
        return ModelError(self._masked(text))

    def _masked(self, text: str) -> str:
        """A message of a server in one line, shortened and without entries of the configuration."""
        for key, value in _leaves(self._config):
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, f"<config: {key}>")
        return " ".join(text.split())[:300]


def _leaves(config: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Texts and numbers of a configuration with their keys."""
    if isinstance(config, Mapping):
        for name, value in config.items():
            yield from _leaves(value, str(name))
    elif isinstance(config, list | tuple):
        for value in config:
            yield from _leaves(value, key)
    elif not isinstance(config, bool | None):
        yield key, str(config)


def _checked_limit(seconds: Any) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise ParameterError(f"request_limit: expected a positive number of seconds, got {seconds!r:.80}")
    return float(seconds)


def _checked_config(config: Any) -> dict[str, Any]:
    if not isinstance(config, Mapping | None):
        raise ParameterError(f"config: expected a mapping from names to values, got {type(config).__name__}")
    try:
        return dict(json.loads(json.dumps(dict(config or {}))))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"config: it cannot be written as JSON: {error}") from None
