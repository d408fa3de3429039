"""Environment variables for MPI launchers, so that ranks run as root, on any number of cores, and yield when idle."""

from collections.abc import Mapping

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
