"""Mask passwords and tokens of a config wherever it is written, and pass them to jobs through the environment."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

MASK = "***"
VARIABLE = "RNSHMC_SECRETS"
"""Environment variable with the secrets that `handed_over` collects, as JSON."""
_USER = re.compile(r"(?<=://)[^/?#\s]*@")
_SECRET = re.compile(
    r"(password|passwd|passphrase|pwd|secret|token|credentials?|authorization|(api|access|private)[_-]?key)$",
    re.IGNORECASE,
)


def mask_addresses(text: str) -> str:
    """Text with the user and password of every address, ``http://user:password@host``, masked."""
    return _USER.sub(f"{MASK}@", text)


def masked(value: Any) -> Any:
    """Settings with credentials masked in addresses and in keys named password, token, secret, credential or key."""
    if isinstance(value, Mapping):
        return {key: MASK if _SECRET.search(str(key)) else masked(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(masked, value))
    return mask_addresses(value) if isinstance(value, str) else value


def handed_over(settings: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Environment variables from which `unmasked` restores the masked settings; empty if none is masked."""
    secret = {_identity(entry): entry for entry in settings if masked(entry) != entry}
    return {VARIABLE: json.dumps(secret)} if secret else {}


def unmasked(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings with masked values restored from the environment, where it has them."""
    secret: dict[str, Mapping[str, Any]] = json.loads(os.environ.get(VARIABLE, "{}"))
    return secret.get(_identity(settings), settings)


def _identity(settings: Mapping[str, Any]) -> str:
    return json.dumps(masked(settings), sort_keys=True)
