"""Version of the installed arviz."""

from importlib import metadata


def since_one() -> bool:
    """Whether arviz is 1.0 or later, which stores data as xarray trees and has its statistics in a separate package."""
    return int(metadata.version("arviz").partition(".")[0]) >= 1
