"""`python -m rnshmc settings.yaml`: `rnshmc.sample` from a file."""

import os
import sys


def main() -> int:
    """Run the settings file named on the command line; return 0 on success, 1 after an error message."""
    # Python searches the working folder first: a random.py there would replace the standard module for all libraries.
    if sys.path[0] == os.getcwd():
        sys.path.append(sys.path.pop(0))
    import argparse
    import logging
    from pathlib import Path

    from rnshmc.errors import RnshmcError
    from rnshmc.inference.settings import run_file, save

    parser = argparse.ArgumentParser(prog="python -m rnshmc", description="Sample the posterior of a settings file.")
    parser.add_argument("settings", type=Path, help="YAML file, see the README")
    logging.basicConfig(level=logging.WARNING, format="rnshmc: %(message)s")
    logging.getLogger("rnshmc").setLevel(logging.INFO)
    try:
        result, output = run_file(parser.parse_args().settings)
        print(result)
        save(result, output)
    except RnshmcError as error:
        print(f"rnshmc: {error}", file=sys.stderr)
        return 1
    print(f"The draws are in {output}; arviz.from_netcdf opens it.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
