"""Numbers and their standard errors as text."""

import math

import pytest

from rnshmc.inference.result.printed import with_error


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (1.338123, 0.000691, ("1.33812", "0.00069")),
        (-0.033123, 0.00094, ("-0.03312", "0.00094")),
        (8.01, 0.000498, ("8.01000", "0.00050")),
        (123456.0, 432.1, ("123456", "432")),
        (0.0, 0.003, ("0.0000", "0.0030")),
        (2.5, 30.0, ("2", "30")),
        (3e7, 400.0, ("3.000000e+07", "4.0e+02")),
        (1.5e-12, 2e-15, ("1.5000e-12", "2.0e-15")),
        (1e-8, 1e-30, ("1.000000000000000e-08", "1.0e-30")),
        (2.0, math.nan, ("2", "")),
        (math.nan, math.nan, ("", "")),
        (4.5, 0.0, ("4.5", "0")),
        (math.inf, math.inf, ("inf", "inf")),
    ],
)
def test_a_number_ends_with_the_second_digit_of_its_error(value: float, error: float, shown: tuple[str, str]) -> None:
    assert with_error(value, error) == shown
