"""Measurements on chains, and tables of them."""
