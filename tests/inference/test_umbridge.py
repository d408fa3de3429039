"""Models served by UM-Bridge: good, bad and missing answers."""

import json
import multiprocessing
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import EvaluationError, NumericalError, ParameterError
from rnshmc.inference.exact import umbridge
from rnshmc.inference.exact.evaluation import Cost, Evaluation
from rnshmc.inference.exact.target import make_model, make_posterior
from rnshmc.inference.exact.umbridge import UMBridge
from rnshmc.inference.exact.umbridge_potential import from_server
from rnshmc.types import Array, Potential

SIZES = {"forward": ([2], [3]), "density": ([2], [1]), "twofold": ([2, 1], [1])}
MATRIX = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]])
DATA = np.array([1.0, 0.5, -0.5])
X = np.array([0.3, -0.7])


class Server(BaseHTTPRequestHandler):
    """A model server in the manner of the reference one, bad answers included: by the first parameter."""

    def do_GET(self) -> None:
        self._send({"protocolVersion": 1.0, "models": list(SIZES)})

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        inputs, outputs = SIZES[content["name"]]
        match self.path:
            case "/ModelInfo":
                self._send({"support": {"Evaluate": True, "Gradient": content["name"] == "forward"}})
            case "/InputSizes":
                self._send({"inputSizes": inputs})
            case "/OutputSizes":
                self._send({"outputSizes": outputs})
            case "/Evaluate":
                self._evaluate(np.array(content["input"][0]), content["name"])
            case "/Gradient":
                self._send({"output": (MATRIX.T @ content["sens"]).tolist()})

    def _evaluate(self, x: Array, name: str) -> None:
        if name == "density":
            self._send({"output": [[-0.5 * float(x @ x)]]})
        elif x[0] == 1:
            self._text(b'{"output": [[-inf, 0.0, 0.0]] }')  # the reference server prints Python
        elif x[0] == 2:
            self._send({"output": [[float("nan"), 0.0, 0.0]]})
        elif x[0] == 3:
            self._text(b"500 Internal Server Error", 500)
        elif x[0] == 4:
            self._send({"error": {"type": "InvalidOutput", "message": "no convergence"}}, 500)
        elif x[0] == 5:
            time.sleep(1.0)
        elif x[0] == 6:
            self._send({"output": []})
        else:
            self._send({"output": [(MATRIX @ x).tolist()]})

    def _send(self, content: Any, status: int = 200) -> None:
        self._text(json.dumps(content).encode(), status)

    def _text(self, content: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def posterior(url: str, **settings: Any) -> UMBridge:
    return UMBridge(url, DATA, 0.5, prior=(np.zeros(2), 1.0), **{"model": "forward", **settings})


def read(target: UMBridge, x: Array = X) -> tuple[Evaluation, Cost]:
    """The evaluation of the posterior, with its gradient."""
    posterior = make_posterior(target, None, ("a", "b"))
    found, cost = posterior.evaluable.evaluate(x, gradient=True)
    assert posterior.forward_posterior is not None
    return posterior.forward_posterior.read(found, x), cost


def test_the_density_is_that_of_the_data_and_takes_two_requests(url: str) -> None:
    found, cost = read(posterior(url))
    misfit = (MATRIX @ X - DATA) / 0.5
    at_zero = 0.5 * float((DATA / 0.5) @ (DATA / 0.5))
    change = found.value - read(posterior(url), np.zeros(2))[0].value
    assert change == pytest.approx(0.5 * float(misfit @ misfit) + 0.5 * float(X @ X) - at_zero, rel=1e-13)
    np.testing.assert_allclose(found.gradient, MATRIX.T @ misfit / 0.5 + X, rtol=1e-13)  # type: ignore[arg-type]
    assert (cost.values, cost.gradients) == (1, 1)


def test_a_model_may_be_a_log_density_and_have_no_gradient(url: str) -> None:
    target = UMBridge(url, model="density")
    answer, _ = make_model(target, None, 2).evaluate(X, gradient=True)
    assert -answer.value == -0.5 * float(X @ X)
    assert (target.dim, answer.gradient) == (2, None)


@pytest.mark.parametrize(
    ("first", "failure"),
    [
        (1, 'ModelError: the model server sent a reply that is not JSON: {"output": [[-inf'),
        (2, "the model's output 0 is nan"),
        (3, "ModelError: the model server answered 500: 500 Internal Server Error"),
        (4, "ModelError: InvalidOutput: no convergence"),
        (5, "ModelError: the model server did not answer within request_limit = 0.3 s"),
        (6, "ModelError: the model server sent a malformed reply, expected 3 numbers: {'output': []}"),
    ],
)
def test_a_bad_answer_is_a_failed_point(url: str, first: float, failure: str) -> None:
    # Short where there is no answer only: on a busy machine a good one may take longer.
    limit = 0.3 if "request_limit" in failure else 60.0
    answer, cost = read(posterior(url, request_limit=limit), np.array([first, 0.0]))
    assert answer.failure is not None
    assert answer.failure.startswith(failure)
    assert (cost.values, cost.gradients) == (1, 0)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """An address at which nothing listens."""
    monkeypatch.setattr(umbridge, "PAUSE_S", 0.01)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def test_a_missing_server_is_reported(nowhere: str) -> None:
    with pytest.raises(EvaluationError, match=f"the model server at {nowhere} does not answer"):
        UMBridge(nowhere)


def test_a_server_that_dies_ends_the_run_and_no_point(url: str, nowhere: str) -> None:
    target = posterior(url)
    target._url = nowhere
    with pytest.raises(EvaluationError, match="does not answer"):
        read(target)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "absent"}, "model: the server at .* has forward, density, twofold, not 'absent'"),
        ({"model": None}, "model: the server at .* has forward, density, twofold, not None"),
        ({"model": "twofold"}, r"model: 'twofold' has 2 inputSizes \[2, 1\], expected one vector"),
    ],
)
def test_unusable_models_are_refused(url: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        posterior(url, **settings)


def test_data_and_noise_go_together(url: str) -> None:
    with pytest.raises(ParameterError, match="data, noise_sd: give both"):
        UMBridge(url, DATA, model="forward")
    with pytest.raises(ParameterError, match="data: the model 'forward' has 3 outputs"):
        UMBridge(url, model="forward")


def test_a_potential_has_the_sign_of_one_and_rejects_where_the_server_fails(url: str) -> None:
    settings = {"url": url, "model": "forward", "data": DATA, "noise_sd": 0.5}
    target = from_server(Path(), **settings, prior={"mean": 0.0, "sd": 1.0})
    assert isinstance(target, Potential)
    value, gradient = target.value_and_grad(X)
    found = read(posterior(url))[0]
    assert (target.dim, value) == (2, found.value)
    np.testing.assert_array_equal(gradient, found.gradient)  # type: ignore[arg-type]
    for evaluate in (target.value, target.gradient, target.value_and_grad):
        with pytest.raises(NumericalError, match="InvalidOutput: no convergence"):
            evaluate(np.array([4.0, 0.0]))
    valued = from_server(Path(), url=url, model="density")
    assert valued.value(X) == 0.5 * float(X @ X)
    assert not isinstance(valued, Potential)


def serve(port: int) -> None:
    """The reference server with one linear model."""
    reference = pytest.importorskip("umbridge")

    class Linear(reference.Model):  # type: ignore[misc, name-defined]
        def get_input_sizes(self, config: Any) -> list[int]:
            return [2]

        def get_output_sizes(self, config: Any) -> list[int]:
            return [3]

        def __call__(self, parameters: Any, config: Any) -> list[list[float]]:
            if parameters[0][0] > 5:
                raise ValueError("no convergence")
            if parameters[0][0] > 4:
                return [[float("nan")] * 3]
            return [(MATRIX @ parameters[0]).tolist()]

        def gradient(self, out_wrt: int, in_wrt: int, parameters: Any, sens: Any, config: Any) -> list[float]:
            return [float(entry) for entry in MATRIX.T @ sens]

        def supports_evaluate(self) -> bool:
            return True

        def supports_gradient(self) -> bool:
            return True

    reference.serve_models([Linear("forward")], port)


def wait_for(condition: Callable[[], Any]) -> Any:
    for _ in range(100):
        try:
            return condition()
        except EvaluationError:
            time.sleep(0.1)
    return condition()


def test_the_reference_server_is_understood() -> None:
    pytest.importorskip("umbridge", reason="umbridge is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = multiprocessing.get_context("fork").Process(target=serve, args=(port,), daemon=True)
    server.start()
    try:
        target = wait_for(lambda: posterior(f"http://127.0.0.1:{port}"))
        answer, _ = read(target)
        misfit = (MATRIX @ X - DATA) / 0.5
        np.testing.assert_allclose(answer.gradient, MATRIX.T @ misfit / 0.5 + X, rtol=1e-13)  # type: ignore[arg-type]
        for first in (4.5, 5.5):
            bad, _ = read(target, np.array([first, 0.0]))
            assert bad.failed
    finally:
        server.kill()
        server.join()
    umbridge.PAUSE_S, before = 0.01, umbridge.PAUSE_S
    try:
        with pytest.raises(EvaluationError, match="does not answer"):
            read(target)
    finally:
        umbridge.PAUSE_S = before
