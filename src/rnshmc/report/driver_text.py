"""What drives a sampler, in words."""

from collections.abc import Mapping
from typing import Any


def driver_text(settings: Mapping[str, Any], surrogate: Mapping[str, Any] | None) -> str:
    """A sampler's driver in words, such as "8 × 50 hidden units, 50 epochs", by its settings and those of its
    surrogate."""
    if "batch_size" in settings:
        friction = f", friction {settings['friction']:g}" if "friction" in settings else ""
        unscaled = "" if settings.get("scaled", True) else ", not scaled to all rows"
        return f"batches of {settings['batch_size']} rows{unscaled}{friction}"
    if surrogate is None:
        return "the exact gradient"
    others = {name: value for name, value in surrogate.items() if name not in ("type", "states", "whitened")}
    parts = []
    if "hidden_units" in others:
        blocks = f"{others.pop('blocks')} × " if "blocks" in others else ""
        parts.append(f"{blocks}{others.pop('hidden_units')} hidden units")
    if "epochs" in others:
        parts.append(f"{others.pop('epochs')} epochs")
    if others.pop("standardised_targets", False):
        parts.append("standardised targets")
    parts += [
        f"{name.replace('_', ' ')} {value if isinstance(value, str) else f'{value:g}'}"
        for name, value in others.items()
    ]
    if "whitened" in surrogate:
        parts.append("trained on a whitened exploration")
    return ", ".join(parts) or str(surrogate["type"]).replace("_", " ")
