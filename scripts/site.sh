#!/usr/bin/env bash
# Builds the documentation site in build/site, in its own environment; warnings are errors: make site
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

env=.venv-site
if ! cmp -s pyproject.toml $env/.made-from; then
    python3 -m venv --clear $env
    # Older versions of pip do not support dependency groups.
    $env/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
    $env/bin/python -m pip install --quiet --disable-pip-version-check --group docs
    cp pyproject.toml $env/.made-from
fi
# Not --quiet, with which mkdocs counts no warnings. The variable silences Material's notice about later versions of mkdocs.
NO_MKDOCS_2_WARNING=1 $env/bin/mkdocs build --clean
echo "The site is $PWD/build/site/index.html; for its search: python3 -m http.server --directory build/site"
