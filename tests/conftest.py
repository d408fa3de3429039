"""Fixtures for all tests."""

import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from rnshmc.run.mpi import MPI_SETTINGS

Array = npt.NDArray[np.float64]

FAILURE = 1e-6
"""Probability with which a statistical test may fail a right program.

Where rounding differs, on another processor or with another BLAS, a chain is another sequence of draws after some
steps: a test must not depend on the draws that one seed happens to give.
"""


LONGEST = (
    "workflow/test_workflow.py",
    "workflow/test_trouble.py",
    "workflow/test_own_problem.py",
    "workflow/test_resume.py",
    "workflow/test_fourth_regression.py",
    "workflow/test_resources.py",
    "conformance/test_samplers.py",
    "inference/test_laws.py",
    "workflow/test_changes.py",
    "workflow/test_fresh_clone.py",
    "mpi/test_diffusion_mpi.py",
    "inference/test_noise.py",
    "kernels/test_rmhmc.py",
    "kernels/test_hmc.py",
)
"""Files that take longest, in the order in which they start: the others fill the gaps.

The first one makes the run "test" on two cores. Those that would wait for it come when it is there.
"""


def pytest_configure(config: pytest.Config) -> None:
    """Have pytest-xdist hand out files as collected: its default, most tests first, leaves long ones to the end."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the files that take longest."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


def z_bound(comparisons: int = 1) -> float:
    """Bound that all of ``comparisons`` z-scores of a right program respect, but with probability `FAILURE`.

    It solves 2 comparisons exp(-z^2 / 2) = FAILURE. That is a bound for means of sub-Gaussian variables, and for sums
    of variables with symmetric laws over the root of their sum of squares, whatever their tails (Efron 1969): the
    changes of a reversible kernel, for example. A normal z-score goes beyond it with less than a tenth of the
    probability, which leaves room for a standard error that is itself an estimate: one too small by 9% for one
    comparison, by 7% for a hundred.
    """
    return math.sqrt(2 * math.log(2 * comparisons / FAILURE))


PATIENCE_S = 1800
"""How long a program under MPI may take: minutes more than it does beside processes that burn every core."""


@pytest.fixture(scope="session")
def launch() -> Callable[..., subprocess.CompletedProcess[str]]:
    """``launch(2, *arguments)`` runs Python on two ranks of whatever machine runs the tests, see `run_on_ranks`."""
    pytest.importorskip("mpi4py")
    if shutil.which("mpiexec") is None:
        pytest.skip("no mpiexec")
    return run_on_ranks


def run_on_ranks(ranks: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments under MPI to its end, good or bad."""
    command = ["mpiexec", "-n", str(ranks), sys.executable, *map(str, arguments)]
    environment = {**MPI_SETTINGS, **os.environ}
    try:
        return subprocess.run(command, env=environment, timeout=PATIENCE_S, check=False, capture_output=True, text=True)
    except subprocess.TimeoutExpired as error:
        # What subprocess hands back here is bytes, whatever was asked for.
        said = "".join(part.decode(errors="replace") for part in (error.stdout, error.stderr) if part)
        pytest.fail(f"the bound of {PATIENCE_S} s on a program under MPI ran out: {' '.join(command)}\n{said}")


@pytest.fixture
def assert_slope() -> Callable[..., None]:
    """The slope test of a derivative, see `check_slope`."""
    return check_slope


def check_slope(
    function: Callable[[Array], float | Array],
    slope: float | Array,
    q: Array,
    direction: Array,
    *,
    relative_error: float = 1e-14,
) -> None:
    """Assert that ``slope`` is the derivative of ``function`` at ``q`` along ``direction``.

    The error of a central difference with step h is C h^2 plus round-off, at most ``relative_error |function| / h``. As
    h halves, the error must fall fourfold for as long as it stands clear of round-off (by a factor 100, which then
    disturbs the order by less than 0.05). A wrong slope leaves an error that does not fall. Where the error never
    stands clear, as for a quadratic function, the slope is right to round-off.

    NaN compares as False, so a slope or a value that is not finite fails first. So does a check that cannot see an
    error of 1% of the slope (or 1e-9 of the function, where the slope is zero), for its round-off is allowed too much.
    """
    assert np.isfinite(slope).all(), f"the slope is {slope}"
    steps = 2.0 ** -np.arange(1, 16)
    errors, noise = [], []
    for h in steps:
        ahead, behind = np.asarray(function(q + h * direction)), np.asarray(function(q - h * direction))
        assert np.isfinite([ahead, behind]).all(), f"the function is {ahead} and {behind} at distance {h}"
        assert np.shape(slope) == ahead.shape, f"a slope of shape {np.shape(slope)}, values of shape {ahead.shape}"
        errors.append(float(np.linalg.norm((ahead - behind) / (2 * h) - slope)))
        noise.append(relative_error * float(np.linalg.norm(ahead) + np.linalg.norm(behind)) / (2 * h))
    clear = np.array(errors) > 100 * np.array(noise)
    pairs = np.flatnonzero(clear[:-1] & clear[1:])
    if pairs.size:
        last = pairs[-1]
        order = np.log2(errors[last] / errors[last + 1])
        assert order > 1.8, f"the error falls with order {order:.2f}, not 2: errors {errors}"
    visible = errors[pairs[-1] + 1] if pairs.size else 100 * noise[1]
    size = float(np.linalg.norm(function(q)))
    assert visible <= max(0.01 * float(np.linalg.norm(slope)), 1e-9 * size), f"no error below {visible:.1e} is visible"
