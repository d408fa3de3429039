"""Measurements on chains, and the tables made of them."""
