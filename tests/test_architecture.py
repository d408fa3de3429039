"""The structure of the code: imports go in one direction, and facts are stated in one place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Left to right; a stage may import the stages before it. Stages of one rank stay apart from each other.
STAGES = (
    ("types", "errors"),
    ("factors", "files", "masking", "random"),
    ("datasets", "fem"),
    ("targets",),
    ("surrogates",),
    ("dynamics",),
    ("kernels",),
    ("run",),
    ("diagnostics",),
    ("inference",),
    # Adapters, each imported by its users alone
    ("bilby", "cobaya", "numpyro", "pymc", "pypesto", "stan"),
    ("experiments",),
    ("store", "rerun"),
    ("results",),
    ("scorecard",),
    ("plots",),
    ("report",),
    ("__main__",),
)
# The same within `inference`.
ROOMS = (
    ("given", "angles", "tuning_shared"),
    ("transforms", "tuning_result"),
    ("warp", "tuning_start"),
    ("tuning",),
    ("exact",),
    ("surrogate",),
    ("stages",),
    ("result",),
    ("checking", "progress", "final_checks"),
    ("attempt",),
    ("modes", "fallback"),
    ("emulating",),
    ("algorithm",),
    ("call",),
    ("settings",),
)
RANK = {stage: rank for rank, stages in enumerate(STAGES) for stage in stages}
ROOM_RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}
FOUNDATION = frozenset(STAGES[0] + STAGES[1])
NAMED = re.compile(r"^(rnshmc(?:\.\w+){2,})(?::[\w.]+)?$|\bfrom (rnshmc(?:\.\w+){2,}) import")
"""A module named in a string, as a registry does; and a program in a string."""
LAZY = {(Path("run/registry.py"), "rnshmc.inference.exact.umbridge_potential")}
"""Imported only where a config names such a target: no chain of the papers depends on it."""
FINITE_ELEMENTS = frozenset({"dolfinx", "ufl", "ffcx", "basix", "petsc4py"})


def modules(root: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Every file of the package, by its path inside it, with its syntax tree."""
    package = root / "src/rnshmc"
    for file in sorted(package.rglob("*.py")):
        yield file.relative_to(package), ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def imports(file: Path, tree: ast.Module) -> Iterator[str]:
    """Dotted names of all imports of a file, including those for type checkers and modules named in strings."""
    here = ("rnshmc", *file.parent.parts)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield from (named.group(1) or named.group(2) for named in NAMED.finditer(node.value))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            anchor = here[: len(here) - node.level + 1] if node.level else ()
            module = ".".join((*anchor, *([node.module] if node.module else [])))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def stage_of(file: Path) -> str:
    return file.parts[0].removesuffix(".py")


def backward_arrows(root: Path) -> list[str]:
    """Imports that run against the order of the stages, or between stages of one rank, or of or by an unknown stage."""
    return [f"{file}: {name}" for file, name in arrows(root) if not flows(stage_of(file), name.split(".")[1], RANK)]


def backward_arrows_of_rooms(root: Path) -> list[str]:
    """The same among the packages of `inference`."""
    found = []
    for file, name in arrows(root):
        room, parts = file.relative_to(file.parts[0]).parts[:1], name.split(".")[1:]
        inside = file.parts[0] == "inference" and parts[0] == "inference" and len(parts) > 1
        if inside and not flows(room[0].removesuffix(".py"), parts[1], ROOM_RANK):
            found.append(f"{file}: {name}")
    return found


def arrows(root: Path) -> Iterator[tuple[Path, str]]:
    """Files of the package, with the dotted names in it that they import."""
    for file, tree in modules(root):
        if file != Path("__init__.py"):
            names = (name for name in imports(file, tree) if name.startswith("rnshmc.") and (file, name) not in LAZY)
            yield from ((file, name) for name in names)


def flows(importer: str, imported: str, rank: dict[str, int]) -> bool:
    """Whether an import stays in its place or goes to one before it."""
    if imported == importer or {imported, importer} <= FOUNDATION:
        return True
    return rank.get(imported, len(rank)) < rank.get(importer, -1)


def importers(root: Path, packages: frozenset[str]) -> set[Path]:
    """Files that import one of some outside packages."""
    return {file for file, tree in modules(root) if {name.partition(".")[0] for name in imports(file, tree)} & packages}


def version_checks(root: Path) -> set[Path]:
    """Files of the finite-element stage that check the features or the version of dolfinx."""

    def asks(node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == "__version__"
        return isinstance(node, ast.Name) and node.id in {"hasattr", "signature"}

    return {file for file, tree in modules(root) if stage_of(file) == "fem" and any(map(asks, ast.walk(tree)))}


def code_in_init_files(root: Path) -> list[str]:
    """Package files with anything but a docstring in them, or without one; that of the whole package may be lazy."""
    return [
        str(file)
        for file, tree in modules(root)
        if file.name == "__init__.py"
        and not (ast.get_docstring(tree) and all(is_lazy(node, file) for node in tree.body[1:]))
    ]


def is_lazy(node: ast.stmt, file: Path) -> bool:
    """Whether a statement belongs to the package's names that are imported when they are asked for."""
    if file != Path("__init__.py"):
        return False
    if isinstance(node, ast.FunctionDef):
        return node.name in {"__getattr__", "__dir__"}
    return isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["EXPORTS"]


def lazy_imports(root: Path) -> list[str]:
    """Lazy imports of the package's public names: code digests do not see the modules behind them."""
    stages = {stage_of(file) for file, _ in modules(root)} - {"__init__"}
    trees = [(file, imports(file, tree)) for file, tree in modules(root)]
    scripts = sorted((root / "workflow").rglob("*.py"))
    trees += [(script, imports(script, ast.parse(script.read_text(encoding="utf-8")))) for script in scripts]
    names = ((file, name.split(".")) for file, found in trees for name in found)
    return [str(file) for file, name in names if name[0] == "rnshmc" and name[1:2] and name[1] not in stages]


# --- This tree -------------------------------------------------------------------------------------------------------


def test_imports_flow_one_way() -> None:
    assert backward_arrows(ROOT) == []


def test_imports_among_rooms_flow_one_way() -> None:
    assert backward_arrows_of_rooms(ROOT) == []


def test_every_room_has_its_place_in_the_order() -> None:
    rooms = {file.parts[1].removesuffix(".py") for file, _ in modules(ROOT) if file.parts[0] == "inference"}
    assert rooms - {"__init__"} == ROOM_RANK.keys()


def test_every_stage_has_its_place_in_the_order() -> None:
    assert {stage_of(file) for file, _ in modules(ROOT)} - {"__init__"} <= RANK.keys()


def test_init_files_tie_nothing_together() -> None:
    assert code_in_init_files(ROOT) == []


def test_nobody_here_imports_what_the_package_offers_lazily() -> None:
    assert lazy_imports(ROOT) == []


def test_three_files_import_arviz() -> None:
    names = ("diagnostics/importance.py", "diagnostics/summary.py", "inference/result/converting.py")
    allowed = {Path(name) for name in names}
    assert importers(ROOT, frozenset({"arviz"})) <= allowed


def test_the_finite_element_stage_alone_imports_finite_elements() -> None:
    assert {file.parts[0] for file in importers(ROOT, FINITE_ELEMENTS)} <= {"fem"}


def test_one_file_knows_dolfinx_versions() -> None:
    assert version_checks(ROOT) <= {Path("fem/compat.py")}


# --- The checks themselves, on trees that break a rule ---------------------------------------------------------------


def write(root: Path, name: str, text: str) -> None:
    path = root / "src/rnshmc" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kernels/hmc.py", "from rnshmc.run.chain import run\n"),
        ("kernels/hmc.py", "import rnshmc.plots.style\n"),
        ("kernels/hmc.py", "from rnshmc import run\n"),
        ("targets/logistic.py", "def build():\n    from ..surrogates import random_network\n"),
        ("targets/logistic.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rnshmc.run\n"),
        ("datasets/fetch.py", "from rnshmc.fem import compat\n"),
        ("errors.py", "import rnshmc.results.names\n"),
        ("helpers/misc.py", "import rnshmc.errors\n"),
        ("plots/style.py", "import rnshmc.helpers\n"),
        ("targets/logistic.py", 'NAMES = {"hmc": "rnshmc.kernels.hmc:HMC"}\n'),
    ],
)
def test_an_arrow_that_runs_back_is_found(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    assert len(backward_arrows(tmp_path)) == 1
    assert backward_arrows(tmp_path)[0].startswith(name)


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("exact/archive.py", "from rnshmc.inference.surrogate.whitening import Whitening\n", 1),
        ("exact/archive.py", 'PROGRAM = "from rnshmc.inference.call import sample"\n', 1),
        ("stages/training.py", "from rnshmc.inference import algorithm\n", 1),
        ("stages/training.py", "from rnshmc.inference.stages import fits\nimport rnshmc.inference.tuning\n", 0),
        ("tuning.py", "from rnshmc.inference.exact import archive\n", 1),
        ("corner/shelf.py", "from rnshmc.inference.exact import archive\n", 1),
        ("call.py", '"""See `rnshmc.inference.settings`."""\nfrom rnshmc.inference.algorithm import run\n', 0),
    ],
)
def test_an_arrow_that_runs_back_among_rooms_is_found(tmp_path: Path, name: str, text: str, count: int) -> None:
    write(tmp_path, f"inference/{name}", text)
    assert len(backward_arrows_of_rooms(tmp_path)) == count


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plots/trace.py", "from rnshmc.store.chains import read\nfrom . import style\nimport matplotlib\n"),
        ("store/chains.py", "from rnshmc.errors import StoreError\nfrom rnshmc.run import chain\n"),
        ("random.py", "from rnshmc.errors import ParameterError\n"),
    ],
)
def test_an_arrow_that_runs_forward_is_not(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    assert backward_arrows(tmp_path) == []


def test_code_in_an_init_file_is_found(tmp_path: Path) -> None:
    write(tmp_path, "run/__init__.py", '"""Runs."""\n')
    write(tmp_path, "fem/__init__.py", '"""Elements."""\nfrom rnshmc.fem import compat\n')
    write(tmp_path, "store/__init__.py", "")
    write(tmp_path, "store/lazy/__init__.py", '"""Lazy."""\nEXPORTS = {}\n')
    assert code_in_init_files(tmp_path) == ["fem/__init__.py", "store/__init__.py", "store/lazy/__init__.py"]


@pytest.mark.parametrize("more", ["from rnshmc import fem\n", "OTHER = {}\n", "def load():\n    pass\n"])
def test_the_package_itself_is_lazy_and_no_more(tmp_path: Path, more: str) -> None:
    lazy = '"""All."""\nEXPORTS = {"a": "rnshmc.a"}\ndef __getattr__(name):\n    return EXPORTS[name]\n'
    write(tmp_path, "__init__.py", lazy)
    assert code_in_init_files(tmp_path) == []
    write(tmp_path, "__init__.py", lazy + more)
    assert code_in_init_files(tmp_path) == ["__init__.py"]


@pytest.mark.parametrize("text", ["from rnshmc import HMC\n", "import rnshmc.HMC\n"])
def test_an_import_of_a_lazy_name_is_found(tmp_path: Path, text: str) -> None:
    write(tmp_path, "__init__.py", '"""All."""\nEXPORTS = {"HMC": "rnshmc.kernels.hmc"}\n')
    write(tmp_path, "kernels/hmc.py", "from rnshmc import kernels\nfrom rnshmc.kernels import hmc\n")
    assert lazy_imports(tmp_path) == []
    write(tmp_path, "run/sample.py", text)
    assert lazy_imports(tmp_path) == ["run/sample.py"]


def test_a_forbidden_import_is_found(tmp_path: Path) -> None:
    write(tmp_path, "targets/elliptic.py", "def f():\n    from dolfinx.fem import petsc\n")
    assert importers(tmp_path, FINITE_ELEMENTS) == {Path("targets/elliptic.py")}


@pytest.mark.parametrize(
    "text", ["import dolfinx\nold = dolfinx.__version__ < '0.8'\n", "new = hasattr(fem, 'form')\n"]
)
def test_a_version_check_is_found(tmp_path: Path, text: str) -> None:
    write(tmp_path, "fem/diffusion.py", text)
    assert version_checks(tmp_path) == {Path("fem/diffusion.py")}
