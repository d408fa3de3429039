"""Drivers in words."""

from typing import Any

import pytest

from rnshmc.report.driver_text import driver_text


@pytest.mark.parametrize(
    ("settings", "surrogate", "text"),
    [
        ({}, None, "the exact gradient"),
        ({"batch_size": 500, "friction": 4.472}, None, "batches of 500 rows, friction 4.472"),
        ({"batch_size": 5000}, None, "batches of 5000 rows"),
        ({"batch_size": 500, "scaled": False}, None, "batches of 500 rows, not scaled to all rows"),
        (
            {},
            {"type": "random_network", "hidden_units": 9, "ridge": 0.5, "whitened": {"step_size": 0.5}},
            "9 hidden units, ridge 0.5, trained on a whitened exploration",
        ),
        ({}, {"type": "random_network", "hidden_units": 1000, "ridge": 1e-7}, "1000 hidden units, ridge 1e-07"),
        ({}, {"type": "online_network", "hidden_units": 9, "ridge": 0.5, "states": 40}, "9 hidden units, ridge 0.5"),
        ({}, {"type": "gradient_network", "hidden_units": 100, "epochs": 50}, "100 hidden units, 50 epochs"),
        (
            {},
            {"type": "gradient_network", "hidden_units": 50, "epochs": 50, "blocks": 8},
            "8 × 50 hidden units, 50 epochs",
        ),
        (
            {},
            {"type": "gradient_network", "hidden_units": 9, "epochs": 9, "standardised_targets": True, "batch_size": 9},
            "9 hidden units, 9 epochs, standardised targets, batch size 9",
        ),
        ({}, {"type": "fitc", "inducing_points": 40}, "inducing points 40"),
        ({}, {"type": "gaussian_process"}, "gaussian process"),
    ],
)
def test_a_driver_is_told_by_its_settings(
    settings: dict[str, Any], surrogate: dict[str, Any] | None, text: str
) -> None:
    assert driver_text(settings, surrogate) == text
