"""Startup cost of jobs: processor seconds of a new interpreter and its imports, by script.

    python benchmarks/job_cost.py [commit [script ...]]

With a commit, its code is also timed, alternately, so that a drift of the machine does not matter. With names of
scripts, only these are timed.
"""

import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 3
# What Snakemake puts in front of each script.
PREAMBLE = "import pickle\nimport snakemake.script\nfrom snakemake.logging import logger\n"


def imports_of(script: Path) -> str:
    """The import statements of a script that run, as a program."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    statements = (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    return PREAMBLE + "\n".join(map(ast.unparse, statements))


def processor_seconds(program: str, project: Path) -> float:
    """User and system seconds of a new interpreter that runs a program."""
    before = os.times()
    environment = {**os.environ, "PYTHONPATH": str(project / "src"), "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", program], check=True, cwd=project, env=environment)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def check_out(commit: str, folder: Path) -> Path:
    subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "--detach", str(folder), commit], check=True)
    return folder


def compare(projects: dict[str, Path], names: list[str]) -> None:
    print(f"{'script':28}" + "".join(f"{name:>12}" for name in projects) + "   processor seconds")
    for name in names:
        scripts = {label: project / "workflow/scripts" / name for label, project in projects.items()}
        seconds: dict[str, list[float]] = {label: [] for label in projects}
        for _ in range(REPEATS):
            for label, script in scripts.items():
                if script.exists():
                    seconds[label].append(processor_seconds(imports_of(script), projects[label]))
        cells = (f"{median(found):12.2f}" if found else f"{'-':>12}" for found in seconds.values())
        print(f"{name:28}" + "".join(cells), flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        commit, names = sys.argv[1:2], sys.argv[2:]
        projects = {"now": ROOT}
        if commit:
            projects = {commit[0][:10]: check_out(commit[0], Path(folder) / "then"), **projects}
        try:
            compare(projects, names or sorted(path.name for path in (ROOT / "workflow/scripts").glob("*.py")))
        finally:
            if len(projects) > 1:
                command = ["git", "-C", str(ROOT), "worktree", "remove", "--force", str(Path(folder) / "then")]
                subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
