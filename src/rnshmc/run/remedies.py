"""Remedies that several messages share. Only constants belong here, because each job imports this module."""

MEMORY_REMEDY = (
    "run fewer jobs at once (--cores), or on a cluster give it more (mem_mb of {rule} under set-resources in the "
    "profile)"
)
"""Remedy for a job that ran out of memory; `rule` is the name of its rule."""
