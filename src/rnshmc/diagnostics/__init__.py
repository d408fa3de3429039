"""Diagnostics of chains: effective sample sizes, errors of means, and agreement with a reference."""
