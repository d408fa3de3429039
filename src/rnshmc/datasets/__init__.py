"""From a raw file to a design matrix: fetch, check, encode, project, simulate."""
