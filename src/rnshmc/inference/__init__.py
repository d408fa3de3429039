"""Sampling from a posterior of one's own with few exact evaluations."""
