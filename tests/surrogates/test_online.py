"""The online network equals the batch fit at every stage."""

from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import FitError, ParameterError, StoreError
from rnshmc.random import stream
from rnshmc.surrogates.greville import GrevilleRecursion
from rnshmc.surrogates.normal_equations import BLOCK
from rnshmc.surrogates.online import OnlineNetwork
from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.types import Array, Potential

DIM, UNITS, RIDGE, FIRST = 3, 40, 1e-6, 30

pytestmark = pytest.mark.filterwarnings("error")


def training_set(n: int) -> tuple[Array, Array]:
    """States of a Gaussian posterior, the best one first, and a potential with a cubic part."""
    q = stream(41, "online states").standard_normal((n, DIM))
    q[0] = 0.0
    return q, 5.0 + 0.5 * (q**2).sum(axis=1) + 0.05 * np.abs(q[:, 0]) ** 3


def start(*, first: int = FIRST, units: int = UNITS, ridge: float = RIDGE, **settings: float) -> OnlineNetwork:
    q, u = training_set(first)
    return OnlineNetwork.fit(q, u, rng=stream(41, "hidden"), hidden_units=units, ridge=ridge, **settings)


def batch(n: int, *, ridge: float = RIDGE) -> RandomNetwork:
    q, u = training_set(n)
    return RandomNetwork.fit(q, u, rng=stream(41, "hidden"), hidden_units=UNITS, ridge=ridge)


def learn(online: OnlineNetwork, n: int) -> None:
    """Continue to n training states."""
    q, u = training_set(n)
    for state, potential in list(zip(q, u, strict=True))[len(online.training_states[1]) :]:
        online.update(state, potential)


def rms_difference(one: RandomNetwork, other: RandomNetwork, q: Array) -> float:
    return float(np.sqrt(np.mean((one.predict(q) - other.predict(q)) ** 2)))


def test_it_is_a_potential() -> None:
    online = start()
    assert isinstance(online, Potential)
    assert online.dim == DIM


def test_it_starts_as_the_batch_fit_with_the_same_hidden_layer() -> None:
    online, network = start(), batch(FIRST)
    assert online.network().weights.tobytes() == network.weights.tobytes()
    assert online.network().biases.tobytes() == network.biases.tobytes()
    q, _ = training_set(FIRST)
    np.testing.assert_allclose(online.predict(q), network.predict(q), rtol=0, atol=1e-6)
    assert online.train_residual_sd == pytest.approx(network.train_residual_sd, rel=1e-4)


@pytest.mark.parametrize("ridge", [1e-6, 1e-3])
@pytest.mark.parametrize("n", [FIRST + 5, 200, FIRST + 20 * BLOCK])
def test_what_it_has_learnt_is_the_batch_fit_of_all_states(n: int, ridge: float) -> None:
    online = start(ridge=ridge)
    learn(online, n)
    q, _ = training_set(n)
    # Fits of the normal equations differ by about eps |H|^2 |v| / sqrt(ridge n) over the states.
    assert rms_difference(online.network(), batch(n, ridge=ridge), q) < 1e-4
    assert online.refactorisations == 0


def test_without_penalty_it_is_the_pseudo_inverse() -> None:
    units = 15
    online = start(first=5, units=units, ridge=0.0)
    for n in (8, 14, 40, 300):
        learn(online, n)
        q, u = training_set(n)
        hidden = np.logaddexp(0.0, q @ online.network().weights + online.network().biases)
        sigma = np.linalg.svd(hidden, compute_uv=False)
        v = np.linalg.pinv(hidden, rcond=1e-9) @ (u - u.min())
        allowed = 1e-13 * (sigma[0] / sigma[-1]) ** 2 * np.linalg.norm(v)
        assert online.report()["rank"] == min(n, units)
        assert np.linalg.norm(online.network().output_weights - v) < allowed


def harsh_training_set(n: int) -> tuple[Array, Array]:
    """Wide states: a row of H that is independent of those before it takes numbers of 1/ridge out of Theta at once."""
    z = stream(41, "harsh states").standard_normal((n, 4))
    return 2.0 * z, 0.5 * (z**2).sum(axis=1) + 0.1 * z[:, 0] ** 3 + 0.025 * z.sum(axis=1) ** 3


ACCURATE = 2e-2
"""Error of predictions: the fit without rounding errors is off by 0.006, one that drifted by 0.3 and more."""


def errors_over_ten_thousand_updates(drift_tolerance: float) -> tuple[list[float], int]:
    """How far predictions are from those of batch fits on the way, and how often the recursion was started anew."""
    q, u = harsh_training_set(10_020)
    online = OnlineNetwork.fit(
        q[:20], u[:20], rng=stream(41, "harsh"), hidden_units=80, ridge=1e-15, drift_tolerance=drift_tolerance
    )
    errors = []
    for n in range(20, len(q)):
        online.update(q[n], u[n])
        if n in (300, 500, 1000, 3000, len(q) - 1):
            seen = slice(n + 1)
            fitted = RandomNetwork.fit(q[seen], u[seen], rng=stream(41, "harsh"), hidden_units=80, ridge=1e-15)
            errors.append(float(np.std(online.network().predict(q[seen]) - fitted.predict(q[seen]))))
    return errors, online.refactorisations


def test_ten_thousand_updates_stay_accurate_because_the_recursion_is_started_anew() -> None:
    errors, refactorisations = errors_over_ten_thousand_updates(1e-2)
    assert max(errors) < ACCURATE
    assert 1 <= refactorisations <= 20
    drifted, none = errors_over_ten_thousand_updates(np.inf)
    assert max(drifted) > ACCURATE
    assert none == 0


def test_a_recursion_that_went_wrong_is_seen_at_the_end_of_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    online = start()
    monkeypatch.setattr(GrevilleRecursion, "update", lambda self, h, target: None)
    learn(online, FIRST + BLOCK - 1)
    assert online.refactorisations == 0
    learn(online, FIRST + BLOCK)
    assert online.refactorisations == 1
    n = FIRST + BLOCK
    assert rms_difference(online.network(), batch(n), training_set(n)[0]) < 1e-4


def test_a_new_start_that_does_no_better_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OnlineNetwork, "_drift", lambda self: 1.0)
    online = start()
    learn(online, FIRST + 3 * BLOCK)
    assert online.refactorisations == 0


def test_it_drives_with_what_it_adopted() -> None:
    online, q = start(), np.array([0.3, -0.2, 0.5])
    value, gradient = online.value_and_grad(q)
    learn(online, 200)
    assert online.value(q) == value
    assert online.gradient(q).tobytes() == gradient.tobytes()
    learnt = online.network()
    online.adopt()
    assert online.value(q) == learnt.value(q) != value
    assert online.gradient(q).tobytes() == learnt.gradient(q).tobytes() != gradient.tobytes()
    assert online.predict(q[None])[0] == learnt.predict(q[None])[0]


def test_a_network_taken_from_it_does_not_change() -> None:
    online, q = start(), np.array([0.3, -0.2, 0.5])
    taken = online.network()
    value = taken.value(q)
    learn(online, 300)
    online.adopt()
    assert taken.value(q) == value


def test_the_constant_that_targets_leave_out_stays_that_of_the_start() -> None:
    """A state with a new smallest potential is one more data point; it moves no target learnt before."""
    q, u = training_set(100)
    online = OnlineNetwork.fit(q[1:60], u[1:60], rng=stream(41, "hidden"), hidden_units=UNITS, ridge=RIDGE)
    online.update(q[0], u[0])
    network = online.network()
    predicted = network.predict(q[:60]) + u[1:60].min()
    assert np.sqrt(np.mean((predicted - u[:60]) ** 2)) < 1e-2


def test_it_keeps_its_training_states() -> None:
    q, u = training_set(FIRST)
    online = OnlineNetwork.fit(q, u, rng=stream(41, "hidden"), hidden_units=UNITS, ridge=RIDGE)
    state = np.array([0.1, 0.2, 0.3])
    online.update(state, 6.0)
    state[:] = 0.0
    q[:] = 0.0
    states, potentials = online.training_states
    assert np.array_equal(states, np.vstack([training_set(FIRST)[0], [[0.1, 0.2, 0.3]]]))
    assert np.array_equal(potentials, np.append(u, 6.0))


def test_it_reports_what_it_learnt() -> None:
    online = start()
    learn(online, 100)
    q, u = training_set(100)
    report = online.report()
    assert report["training_states"] == 100
    assert report["rank"] == UNITS
    assert report["refactorisations"] == 0
    assert report["train_residual_sd"] == online.network().train_residual_sd
    assert report["train_residual_sd"] == pytest.approx(np.std(online.network().predict(q) - u), rel=1e-9)


def test_the_same_states_give_the_same_bytes() -> None:
    one, other = start(), start()
    learn(one, 200)
    learn(other, 200)
    assert one.network().output_weights.tobytes() == other.network().output_weights.tobytes()


def test_it_comes_back_from_disk_and_goes_on(tmp_path: Path) -> None:
    online, q = start(), training_set(200)[0]
    online.save(tmp_path / "online.npz")
    loaded = OnlineNetwork.load(tmp_path / "online.npz")
    assert loaded.predict(q).tobytes() == online.predict(q).tobytes()
    learn(online, 200)
    learn(loaded, 200)
    assert loaded.network().output_weights.tobytes() == online.network().output_weights.tobytes()


@pytest.mark.parametrize(
    ("first", "units", "ridge", "n"),
    [(FIRST, UNITS, RIDGE, FIRST), (FIRST, UNITS, RIDGE, FIRST + BLOCK + 7), (5, 15, 0.0, 8), (5, 15, 0.0, 40)],
)
def test_a_restored_network_goes_on_to_the_same_bytes(first: int, units: int, ridge: float, n: int) -> None:
    """Before anything was learnt, within a block, with a rank that still grows, and with one that is full."""
    online, other = (start(first=first, units=units, ridge=ridge) for _ in range(2))
    learn(online, n)
    online.adopt()
    learn(online, n + 1)
    other.restore(deepcopy(online.snapshot()))
    for _ in range(2):
        assert other.gradient(np.ones(DIM)).tobytes() == online.gradient(np.ones(DIM)).tobytes()
        assert other.network().output_weights.tobytes() == online.network().output_weights.tobytes()
        assert other.report() == online.report()
        for network in (online, other):
            learn(network, n + 2 * BLOCK)
            network.adopt()


def test_files_that_are_none_of_its_own_are_named(tmp_path: Path) -> None:
    batch(FIRST).save(tmp_path / "other.npz")
    with pytest.raises(StoreError, match=r"other\.npz.*states"):
        OnlineNetwork.load(tmp_path / "other.npz")


def test_states_that_cannot_be_learnt_are_refused_and_not_kept() -> None:
    online = start()
    for q, u in ((np.full(DIM, np.nan), 1.0), (np.zeros(DIM), np.inf), (np.zeros(DIM + 1), 1.0)):
        with pytest.raises(FitError):
            online.update(q, u)
    assert len(online.training_states[0]) == FIRST


def test_settings_out_of_range_are_refused_by_name() -> None:
    for tolerance in (0.0, -1.0, np.nan):
        with pytest.raises(ParameterError, match=f"drift_tolerance.*{tolerance}"):
            start(drift_tolerance=tolerance)
    with pytest.raises(ParameterError, match="ridge"):
        start(ridge=-1.0)
