"""Settings of the elliptic inverse problem and of its forward-model stage; the defaults are paper A's, section 5.2."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

from rnshmc.errors import ParameterError
from rnshmc.fem.random_field import RandomField, karhunen_loeve
from rnshmc.targets.checks import check_positive

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class EllipticSettings:
    """Mesh and random field.

    Raises `ParameterError` if a number is out of range. The cell type, the solver, and how many modes there are, are
    checked where the model is made.
    """

    cells: int = 30
    """Number of squares along a side of the unit square."""
    cell_type: str = "quadrilateral"
    """``"quadrilateral"`` (bilinear elements) or ``"triangle"`` (each square cut in two, linear elements)."""
    modes: int = 20
    """Number of Karhunen-Loeve modes, the dimension of theta."""
    length_scale: float = 0.2
    variance: float = 1.0
    """l and sigma^2 of the squared exponential covariance of log c."""
    solver: str = "direct"
    """``"direct"`` (a Cholesky factorisation) or ``"multigrid"`` (conjugate gradients, for large meshes)."""

    def __post_init__(self) -> None:
        _check_count("cells", self.cells, least=1)
        _check_count("modes", self.modes, least=1)
        check_positive("length_scale", self.length_scale)
        check_positive("variance", self.variance)

    def random_field(self) -> RandomField:
        """The random field log c."""
        return karhunen_loeve(
            self.cell_type, self.cells, self.modes, length_scale=self.length_scale, variance=self.variance
        )


@dataclass(frozen=True)
class ForwardSettings:
    """Settings of the forward-model stage.

    Raises `ParameterError` if a number is out of range.
    """

    seed: int
    """Root seed of the random streams."""
    problem: str = "pde"
    """Name of the problem, which its random streams are named after."""
    members: int = 200
    """Size of the prior predictive ensemble."""
    sensors: int = 11
    """Number of simulated observations along a side of the unit square, evenly spaced from 0 to 1."""
    noise_sd: float = 0.1
    prior_sd: float = 0.5
    """Standard deviations of the noise and of each coefficient under the prior."""
    observations: str | None = None
    """CSV file (`rnshmc.targets.forward_data.read_observations`) to take the observations from; None: simulate them."""
    published: str | None = None
    """Receipt of those that paper A's authors published, at 11 x 11 points; they are simulated where it is for none."""
    model: EllipticSettings = field(default_factory=EllipticSettings)
    """Mesh and random field."""

    def __post_init__(self) -> None:
        _check_count("seed", self.seed, least=0)
        _check_count("members", self.members, least=1)
        _check_count("sensors", self.sensors, least=2)
        check_positive("noise_sd", self.noise_sd)
        check_positive("prior_sd", self.prior_sd)


def from_mapping(kind: type[Settings], mapping: Mapping[str, Any]) -> Settings:
    """Settings of a ``kind`` from the keys and values of a configuration.

    Raises `ParameterError` if a key is unknown or missing, or a value is refused; the message names the key.
    """
    known = {entry.name: entry for entry in fields(kind)}  # type: ignore[arg-type]
    for key in mapping:
        if key not in known:
            raise ParameterError(f"{key}: no such setting; there are {', '.join(known)}")
    for key, entry in known.items():
        if key not in mapping and entry.default is MISSING and entry.default_factory is MISSING:
            raise ParameterError(f"{key}: this setting is missing")
    return kind(**mapping)


def _check_count(key: str, count: object, *, least: int) -> None:
    if not (isinstance(count, int) and count >= least):
        raise ParameterError(f"{key} must be an integer of at least {least}, got {count!r}")
