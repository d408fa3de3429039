"""The made-up chains of the plots are those of the report."""

from tests.plots.conftest import make_chain

__all__ = ["make_chain"]
