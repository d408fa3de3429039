"""The finite element libraries leave the process as Python made it."""

import subprocess
import sys

import pytest

pytest.importorskip("dolfinx")


def test_a_broken_pipe_is_an_exception_and_not_the_end_of_the_process() -> None:
    program = (
        "import rnshmc.fem.compat, os\n"
        "reader, writer = os.pipe()\n"
        "os.close(reader)\n"
        "try:\n"
        "    os.write(writer, b'nobody reads this')\n"
        "except BrokenPipeError:\n"
        "    print('raised')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "raised\n", done.stderr
