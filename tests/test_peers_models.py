"""The comparison's forward models: densities, derivatives, data, what is counted, and peers that emulate outputs."""

import io
import json
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from peers import reference
from peers.counted import BudgetError, Counted
from peers.emulator_peers import EmulatedModel
from peers.forward import ForwardProblem
from peers.forward_models import DATA, MODELS, chain, decay, lotka_volterra, sir
from peers.judge import TRUTHFUL, Verdict, judge
from peers.likelihoods import Gaussian, Likelihood, LogNormal, NegativeBinomial
from peers.measures import Moments, equivalent_draws
from peers.our_peers import as_model
from peers.problems import make_problem
from peers.remote import serve
from peers.simulate_models import SIMULATED, write
from peers.table import kept, page, write_runs
from scipy import stats

from rnshmc.errors import NumericalError
from rnshmc.types import Array
from tests.conftest import check_slope
from tests.peers_cases import linear_gaussian

PEERS = Path(__file__).parents[1] / "benchmarks/peers"
PYTHON = PEERS / ".venv/bin/python"
HERE = [sir(), decay(), chain(), lotka_volterra()]
SOLVER_ERROR = 1e-8
"""Of what LSODA returns, relative to its largest number: its tolerance is 1e-9 a step."""
COUNTS, POSITIVE = np.array([0.0, 3.0, 17.0, 120.0]), np.array([0.4, 3.0, 17.0, 120.0])


class Doubling:
    """Two outputs of one parameter."""

    dim, outputs = 1, 2

    def forward(self, x: Array) -> Array:
        if x[0] < 0:
            raise NumericalError("outside")
        return np.array([2.0 * x[0], 3.0])

    def jvp(self, x: Array, v: Array) -> Array:
        return np.array([2.0 * v[0], 0.0])

    def vjp(self, x: Array, w: Array) -> Array:
        return 2.0 * w[:1]


def doubling(_: object) -> Doubling:
    return Doubling()


@pytest.mark.parametrize("problem", HERE, ids=lambda problem: problem.names[0])
def test_gradients_of_the_models_potentials(problem: ForwardProblem) -> None:
    potential, rng = problem.potential, np.random.default_rng(1)
    q = problem.coordinates(problem.start) + 0.1 * rng.standard_normal(problem.dim)
    direction = 0.1 * rng.standard_normal(problem.dim)
    value, gradient = potential.value_and_grad(q)
    assert value == potential.value(q)
    check_slope(potential.value, float(gradient @ direction), q, direction, relative_error=SOLVER_ERROR)


@pytest.mark.parametrize("problem", HERE, ids=lambda problem: problem.names[0])
def test_products_with_the_jacobians(problem: ForwardProblem) -> None:
    rng = np.random.default_rng(2)
    x = problem.start[: problem.inputs]
    tangent = 0.1 * x * rng.standard_normal(problem.inputs) if problem.positive.any() else rng.standard_normal(len(x))
    weights = rng.standard_normal(len(problem.data))
    product = problem.jvp(x, tangent)
    check_slope(problem.forward, product, x, tangent, relative_error=SOLVER_ERROR)
    size = float(np.linalg.norm(weights) * np.linalg.norm(product))
    assert weights @ product == pytest.approx(problem.vjp(x, weights) @ tangent, abs=SOLVER_ERROR * size)


@pytest.mark.parametrize(
    ("likelihood", "data", "noise", "law"),
    [
        (Gaussian(0.3), POSITIVE, [], lambda f, _: stats.norm(f, 0.3).logpdf),
        (Gaussian("sigma"), POSITIVE, [0.7], lambda f, s: stats.norm(f, s[0]).logpdf),
        (LogNormal(("s", "t")), POSITIVE, [0.7, 0.2], lambda f, s: stats.lognorm(np.tile(s, 2), scale=f).logpdf),
        (NegativeBinomial("phi"), COUNTS, [4.0], lambda f, p: stats.nbinom(p[0], p[0] / (p[0] + f)).logpmf),
    ],
)
def test_likelihoods_are_the_densities_of_scipy_but_for_a_constant(
    likelihood: Likelihood, data: Array, noise: list[float], law: Callable[[Array, Array], Callable[[Array], Array]]
) -> None:
    outputs, parameters = np.array([1.0, 2.5, 20.0, 90.0]), np.array(noise)
    moved, scaled = 1.1 * outputs, 1.2 * parameters
    change = likelihood.value(moved, scaled, data) - likelihood.value(outputs, parameters, data)
    exact = law(outputs, parameters)(data).sum() - law(moved, scaled)(data).sum()
    assert change == pytest.approx(exact, rel=1e-10)
    of_outputs, of_noise = likelihood.gradients(outputs, parameters, data)
    both, direction = np.concatenate((outputs, parameters)), np.concatenate((0.1 * outputs, 0.2 * parameters))
    slope = float(np.concatenate((of_outputs, of_noise)) @ direction)
    check_slope(lambda q: likelihood.value(q[:4], q[4:], data), slope, both, direction, relative_error=1e-13)


def test_the_potential_is_the_density_of_the_coordinates() -> None:
    # Normal errors of unknown size, log-normal priors: the coordinates, their logarithms, have normal priors.
    problem = decay()
    rng = np.random.default_rng(3)
    centre = problem.coordinates(problem.start)

    def exact(q: Array) -> float:
        x = np.exp(q)
        errors = stats.norm(problem.forward(x[:4]), x[4]).logpdf(problem.data).sum()
        return float(-errors - stats.norm(problem.prior.mean, problem.prior.sd).logpdf(q).sum())

    first, second = (centre + 0.2 * rng.standard_normal(5) for _ in range(2))
    change = problem.potential.value(second) - problem.potential.value(first)
    assert change == pytest.approx(exact(second) - exact(first), rel=1e-10)


@pytest.mark.parametrize("problem", HERE, ids=lambda problem: problem.names[0])
def test_rnshmc_is_asked_for_the_same_posterior(problem: ForwardProblem) -> None:
    posed = as_model(problem, problem.forward).posterior(problem.names).forward_posterior
    assert posed is not None
    rng = np.random.default_rng(7)
    centre = problem.coordinates(problem.start)

    def asked(q: Array) -> float:
        x = problem.parameters(q)
        predictors = posed.observed.predictors(problem.forward(x[: problem.inputs])[None])
        return float(posed.potential(x[None], predictors)[0][0] - q[problem.positive].sum())

    first, second = (centre + 0.1 * rng.standard_normal(problem.dim) for _ in range(2))
    change = problem.potential.value(second) - problem.potential.value(first)
    assert change == pytest.approx(asked(second) - asked(first), rel=1e-9)


def test_lotka_volterra_has_the_density_of_posteriordb() -> None:
    # Its Stan program: normal priors of the rates, log-normal ones of the rest, log-normal data.
    problem = lotka_volterra()
    rng = np.random.default_rng(4)

    def exact(q: Array) -> float:
        x = np.exp(q)
        rates = stats.norm([1.0, 0.05, 1.0, 0.05], [0.5, 0.05, 0.5, 0.05]).logpdf(x[:4]).sum()
        rest = stats.lognorm([1.0] * 4, scale=[10.0, 10.0, np.exp(-1.0), np.exp(-1.0)]).logpdf(x[4:]).sum()
        outputs = problem.forward(x[:6]).reshape(21, 2)
        data = stats.lognorm(x[6:], scale=outputs).logpdf(problem.data.reshape(21, 2)).sum()
        return float(-rates - rest - data - q.sum())

    centre = problem.coordinates(problem.start)
    first, second = (centre + 0.1 * rng.standard_normal(8) for _ in range(2))
    change = problem.potential.value(second) - problem.potential.value(first)
    assert change == pytest.approx(exact(second) - exact(first), rel=1e-10)


def test_data_are_what_their_seed_gives(tmp_path: Path) -> None:
    write(tmp_path)
    for name in SIMULATED:
        kept, again = (np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1) for folder in (DATA, tmp_path))
        # Five decimal places: a solver's rounding may change the last.
        np.testing.assert_allclose(kept, again, rtol=0, atol=1.1e-5)


def test_a_model_that_cannot_be_run_fails_as_a_number() -> None:
    for problem in (sir(), lotka_volterra(), chain()):
        with pytest.raises(NumericalError):
            problem.potential.value(np.full(problem.dim, 50.0))


def test_runs_and_products_are_counted_failed_ones_too() -> None:
    model = sir()
    target = Counted(model.potential, max_units=5, model=model)
    x = model.start[:4]
    np.testing.assert_array_equal(target.forward(x), model.forward(x))
    np.testing.assert_array_equal(target.jvp(x, np.ones(4)), model.jvp(x, np.ones(4)))
    np.testing.assert_array_equal(target.vjp(x, np.ones(20)), model.vjp(x, np.ones(20)))
    assert (target.values, target.gradients, target.units) == (1, 2, 3)
    with pytest.raises(NumericalError):
        target.forward(-x)
    assert (target.units, target.failed) == (4, 1)
    target.forward(x)
    with pytest.raises(BudgetError):
        target.forward(x)
    with pytest.raises(BudgetError):
        target.vjp(x, np.ones(20))
    assert target.units == 5


def test_a_model_answers_through_a_pipe() -> None:
    numbers = [np.array(entries).tobytes() for entries in ([1.5], [-1.0], [4.0], [5.0, 6.0])]
    asked = b"f" + numbers[0] + b"f" + numbers[1] + b"t" + numbers[0] + numbers[2] + b"a" + numbers[0] + numbers[3]
    answers = io.BytesIO()
    serve("tests.test_peers_models:doubling", Path(), io.BytesIO(asked), answers)
    two, one = struct.pack("q", 2), struct.pack("q", 1)
    outputs, tangent, adjoint = (np.array(entries).tobytes() for entries in ([3.0, 3.0], [8.0, 0.0], [10.0]))
    assert answers.getvalue() == b"+" + two + outputs + b"-" + b"+" + two + tangent + b"+" + one + adjoint


def test_the_elliptic_model_is_that_of_its_potential(tmp_path: Path) -> None:
    pytest.importorskip("dolfinx")
    from peers.data import MAKERS

    MAKERS["pde"](tmp_path / "pde.npz")
    problem = make_problem("pde", tmp_path / "pde.npz")
    assert problem.model is not None
    q = 0.3 * np.random.default_rng(5).standard_normal(20)
    ours, theirs = problem.model.potential, problem.potential
    shift = len(problem.model.data) * np.log(0.1)  # the normal density's factor, which U leaves out
    assert ours.value(q) == pytest.approx(theirs.value(q) + shift, rel=1e-12)
    np.testing.assert_allclose(ours.gradient(q), theirs.gradient(q), rtol=1e-9)
    v, w = np.linspace(-1.0, 1.0, 20), np.linspace(-1.0, 1.0, len(problem.model.data))
    product = problem.model.jvp(q, v)
    check_slope(problem.model.forward, product, q, v, relative_error=1e-12)
    assert w @ product == pytest.approx(problem.model.vjp(q, w) @ v, rel=1e-9)


@pytest.fixture
def verdicts(tmp_path: Path) -> list[Verdict]:
    """Of four peers on one model, whose reference is in the folder of the test."""
    moments = Moments(np.zeros(2), np.ones(2), np.full(2, 3.0))
    reference.write(tmp_path / "sir.csv", moments, (5000.0, 5000.0))

    def verdict(peer: str, units: int) -> Verdict:
        estimates = {"mean": [0.01, 0.0], "variance": [1.0, 1.0], "says": "fine", "says_good": True}
        outcome = {**estimates, "own_draws": [np.nan, np.nan], "warmup_units": np.nan}
        spent = {"units": units, "failed": 0, "overhead_s": 1.0, "target_s": 1.0, "ended": "finished"}
        run = {"peer": peer, "problem": "sir", "seed": 1, "version": "1", "outcome": outcome, **spent}
        return judge(run, moments, (np.inf, np.inf))

    units = {"rnshmc_model": 50, "bayesfast_quadratic": 90, "rnshmc_gradient": 200, "nutpie_diagonal": 300}
    return [verdict(peer, spent) for peer, spent in units.items()]


def test_the_page_compares_emulators_on_models_only_with_one_another(verdicts: list[Verdict], tmp_path: Path) -> None:
    made = page(verdicts, tmp_path)
    assert "fewest units on 1 of 1 posteriors" in made
    assert "| sir | nutpie_diagonal: 300 | 200 | none | not run |" in made
    assert "| sir | 200 | 50 | 90 | not run | 200 | not run | 1 of 1 |" in made


def test_a_part_of_the_table_leaves_the_rows_of_the_rest(verdicts: list[Verdict], tmp_path: Path) -> None:
    table = tmp_path / "peers.csv"
    assert kept(table, verdicts) == []
    write_runs(table, verdicts)
    again = replace(verdicts[0], seed=2)
    assert [(row.peer, row.units_goal) for row in kept(table, [again])] == [
        ("bayesfast_quadratic", 90),
        ("rnshmc_gradient", 200),
        ("nutpie_diagonal", 300),
    ]


def test_the_configuration_knows_which_problems_are_models() -> None:
    settings = yaml.safe_load((PEERS / "config.yaml").read_text())["problems"]
    assert {name for name, entry in settings.items() if entry.get("model")} == set(MODELS)
    for model, name in zip(HERE, ("sir", "decay", "chain", "lotka_volterra"), strict=True):
        assert settings[name]["dim"] == model.dim


@pytest.mark.parametrize("problem", [sir(), decay(), lotka_volterra()], ids=lambda problem: problem.names[0])
def test_an_emulated_density_is_exact_at_the_models_outputs(problem: ForwardProblem) -> None:
    emulated = EmulatedModel(problem, Counted(problem.potential, 10, problem))
    q = problem.coordinates(problem.start)
    parts = q[: problem.inputs], q[problem.inputs :]
    outputs = emulated.run(parts[0])[0]
    (density,), (slopes,) = emulated.density_and_slopes(outputs, *parts)
    assert density[0] == pytest.approx(-problem.potential.value(q), rel=1e-12)
    everything = np.concatenate((outputs, q))
    direction = 0.1 * np.random.default_rng(6).standard_normal(everything.size)

    def log_density(z: Array) -> float:
        start, noise = z[len(outputs) : len(outputs) + problem.inputs], z[len(outputs) + problem.inputs :]
        return float(emulated.density(z[: len(outputs)], start, noise)[0][0])

    check_slope(log_density, float(slopes[0] @ direction), everything, direction, relative_error=1e-13)


@pytest.mark.skipif(not PYTHON.exists(), reason="the peers' environment is not made: benchmarks/peers/make-env.sh")
def test_bayesfast_is_right_where_the_model_is_linear() -> None:
    program = (
        "import json, sys; sys.path[:0] = ['benchmarks', '.']\n"
        "from peers.counted import Counted\n"
        "from peers.emulator_peers import bayesfast_importance\n"
        "from tests.peers_cases import as_problem, linear_gaussian\n"
        "problem = as_problem(linear_gaussian())\n"
        "target = Counted(problem.potential, 10**5, problem.model)\n"
        "found = bayesfast_importance(target, problem, 1)\n"
        "moments = found.mean.tolist(), found.variance.tolist()\n"
        "print(json.dumps([*moments, found.own_draws, found.warmup_units, target.units]))"
    )
    done = subprocess.run([PYTHON, "-c", program], cwd=PEERS.parents[1], check=True, capture_output=True, text=True)
    mean, variance, own, warmup, units = json.loads(done.stdout.splitlines()[-1])
    model = linear_gaussian()
    matrix = np.column_stack([model.jvp(np.zeros(3), column) for column in np.eye(3)])
    covariance = np.linalg.inv(np.eye(3) + matrix.T @ matrix / 0.5**2)
    exact = Moments(covariance @ matrix.T @ model.data / 0.5**2, np.diag(covariance), np.full(3, 3.0))
    for real, claimed in zip(equivalent_draws(np.array(mean), np.array(variance), exact), own, strict=True):
        assert claimed > 300
        assert 1.0 / real <= TRUTHFUL / claimed
    assert units == warmup + 1000
