"""Readers of the files that figures are drawn from, beside CSV tables."""

from collections.abc import Callable, Mapping
from typing import Any

from rnshmc.results.metrics import read_metrics_frame
from rnshmc.results.posterior import ProblemChains
from rnshmc.scorecard.published import read_acceptance
from rnshmc.targets.forward_data import ForwardData
from rnshmc.targets.predictions import Predictions

FIGURE_READERS: Mapping[str, Callable[..., Any]] = {
    "chains": ProblemChains.read,
    "forward": ForwardData.load,
    "metrics": read_metrics_frame,
    "predictions": Predictions.load,
    "published": read_acceptance,
}
