"""Measures of published numbers from the tidy tables of a run, by kind of table."""
