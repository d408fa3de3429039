"""What every test may ask for."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[np.float64]


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
    """
    steps = 2.0 ** -np.arange(1, 16)
    errors, noise = [], []
    for h in steps:
        ahead, behind = np.asarray(function(q + h * direction)), np.asarray(function(q - h * direction))
        errors.append(float(np.linalg.norm((ahead - behind) / (2 * h) - slope)))
        noise.append(relative_error * float(np.linalg.norm(ahead) + np.linalg.norm(behind)) / (2 * h))
    clear = np.array(errors) > 100 * np.array(noise)
    pairs = np.flatnonzero(clear[:-1] & clear[1:])
    if pairs.size:
        last = pairs[-1]
        order = np.log2(errors[last] / errors[last + 1])
        assert order > 1.8, f"the error falls with order {order:.2f}, not 2: errors {errors}"
