"""Readers, stand-ins and simulations by their names in the config.

Modules are named by strings and imported when used, so that a data set depends on its own code alone. With plain
imports, the digest of each set would include every reader and simulation, and an edit of one would rerun all sets.
"""

from importlib import import_module
from typing import Any

READERS = {
    "adult": "rnshmc.datasets.adult:read_either",
    "bank": "rnshmc.datasets.bank:read_bank",
    "cover_type": "rnshmc.datasets.covertype:read_covertype",
    "csv": "rnshmc.datasets.tables:read_csv",
    "dota2": "rnshmc.datasets.dota2:read_dota2",
    "news": "rnshmc.datasets.news:read_news",
}
"""Functions from a raw file to a `LogisticData` in the units of the file."""
STAND_INS = {
    "dota2": "rnshmc.datasets.dota2:dota2_standin",
    "plain": "rnshmc.datasets.simulate:plain_standin",
    "summary": "rnshmc.datasets.standin:simulate_standin",
}
"""Functions from settings and a random stream to a `LogisticData` of origin "stand-in"."""
STANDARDISED = frozenset({"dota2"})
"""Stand-ins that are simulated in the units of the prepared data, not of the raw files."""
SIMULATIONS = {
    "garch": "rnshmc.datasets.synthetic:simulate_garch",
    "logistic": "rnshmc.datasets.simulate:simulate_logistic",
    "normal_logistic": "rnshmc.datasets.synthetic:simulate_normal_logistic",
    "regression": "rnshmc.datasets.synthetic:simulate_regression",
}
"""Functions from settings and a random stream to data of origin "simulated"."""
STAGES = {
    "fetched": "rnshmc.datasets.prepare:prepare",
    "projected": "rnshmc.datasets.project:project_file",
    "subset": "rnshmc.datasets.subset:rows_of_file",
}
"""Functions from files, settings and a random stream to data derived from these files."""


def load(entry: str) -> Any:
    """Import the object named by an entry, ``"module:name"``, of the registries above."""
    module, name = entry.split(":")
    return getattr(import_module(module), name)
