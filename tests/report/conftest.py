"""The made-up chains of the plots are those of the report."""

from tests.plots.conftest import make_chain
from tests.scorecard.conftest import make

__all__ = ["make", "make_chain"]
