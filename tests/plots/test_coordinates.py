"""Names of coordinates."""

import pytest

from rnshmc.plots.coordinates import coordinate_name
from rnshmc.run.registry import TARGETS

NAMES = {
    "logistic": ({}, "β₂"),
    "logistic_laplace": ({}, "β₂"),
    "elliptic": ({}, "θ₂"),
    "garch": ({"orders": [2, 1]}, "α₁"),
    "gp_regression": ({}, "log σ²"),
    "python": ({}, "q₂"),
    "umbridge": ({}, "q₂"),
}


def test_no_target_is_left_out_but_one_that_is_only_timed() -> None:
    assert set(TARGETS) - set(NAMES) == {"elliptic_full_jacobian"}


@pytest.mark.parametrize("kind", NAMES)
def test_coordinates_go_by_the_symbols_of_the_papers_if_they_have_any(kind: str) -> None:
    settings, name = NAMES[kind]
    assert coordinate_name({"kind": kind, **settings}, 2) == name


def test_garch_has_terms_in_squares_before_those_in_variances() -> None:
    names = [coordinate_name({"kind": "garch", "orders": [2, 1]}, number) for number in range(1, 5)]
    assert names == ["α₀", "α₁", "α₂", "β₁"]
