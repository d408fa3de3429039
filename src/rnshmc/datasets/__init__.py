"""Data sets: fetch, check, encode, project, simulate."""
