"""The scripts that run pages."""

from tests.docs.conftest import docs_output as docs_output
