"""Which arviz is installed."""

from importlib import metadata


def since_one() -> bool:
    """Whether it is 1.0 or later: its data are trees of xarray, and statistics are in a package of their own."""
    return int(metadata.version("arviz").partition(".")[0]) >= 1
