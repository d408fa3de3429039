"""What the user can do about a failure that several messages name. Each job imports it: only constants belong here."""

MEMORY_REMEDY = (
    "run fewer jobs at once (--cores), or on a cluster give it more (mem_mb of {rule} under set-resources in the "
    "profile)"
)
"""For a job that ran out of memory; `rule` is the name of its rule."""
