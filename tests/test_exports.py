"""`import rnshmc` offers every public name, and loads none before its use."""

import ast
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path

import pytest

import rnshmc

PACKAGE = Path(rnshmc.__file__).parent


@pytest.mark.parametrize("name", sorted(rnshmc.EXPORTS))
def test_every_name_is_there(name: str) -> None:
    assert getattr(rnshmc, name) is getattr(import_module(rnshmc.EXPORTS[name]), name)
    assert name in dir(rnshmc)


def test_type_checkers_are_told_the_same() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    told = {alias.asname: node.module for node in imports for alias in node.names}
    assert told == rnshmc.EXPORTS


def test_the_version_is_that_of_the_installed_package() -> None:
    assert rnshmc.__version__ == metadata.version("rnshmc")
    assert "__version__" in dir(rnshmc)


def test_a_name_that_is_not_offered_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'rnshmc' has no attribute 'sampel'"):
        _ = rnshmc.sampel  # type: ignore[attr-defined]


def test_importing_loads_nothing() -> None:
    program = "import sys, rnshmc; print([name for name in sys.modules if name.startswith(('rnshmc.', 'numpy'))])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_sampling_needs_nothing_of_the_pipeline() -> None:
    program = """
import sys
import rnshmc
rnshmc.sample, rnshmc.Result, rnshmc.UMBridge, rnshmc.LeastSquares
others = ("snakemake", "dolfinx", "matplotlib", "pandas", "seaborn", "sklearn", "h5py")
print([name for name in others if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
