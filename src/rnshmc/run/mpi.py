"""Jobs on several MPI ranks: the environment of their launcher, and the command line of their scripts."""

import argparse
import json
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from rnshmc.errors import RnshmcError

MPI_SETTINGS: Mapping[str, str] = {
    # By default, Open MPI refuses to run as root or with more ranks than cores; both are usual in a container. From
    # version 5 on, PRRTE places the ranks.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    # A rank bound to a core cannot move away from another busy process, and two launches would bind to the same cores.
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    # Ranks spin while they wait. With fewer idle cores than ranks they have to yield at each turn, or the ranks that
    # they wait for get no core; on idle cores a yield returns at once.
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",  # MPICH; by default every thousandth turn
}
"""Ranks run as root, on any number of cores, and yield when idle."""


def run_script(main: Callable[..., None], doc: str | None, *files: str, several: Collection[str] = ()) -> None:
    """Call ``main`` with the options ``--spec``, a JSON object, and ``files``; an `RnshmcError` becomes a message.

    Options in ``several`` take a list of files.
    """
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--spec", type=json.loads, required=True, help="settings as a JSON object")
    for name in files:
        parser.add_argument(f"--{name}", type=Path, required=True, nargs="+" if name in several else None)
    try:
        main(**vars(parser.parse_args()))
    except RnshmcError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
