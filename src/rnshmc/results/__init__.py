"""Measurements on chains, one by one and gathered in tables."""
