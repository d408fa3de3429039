"""Passwords and tokens of a config: masked wherever it is written down, and handed to jobs by the environment."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

MASK = "***"
VARIABLE = "RNSHMC_SECRETS"
"""Environment variable with the settings that `handed_over` masks, as JSON."""
_USER = re.compile(r"(?<=://)[^/?#\s]*@")
_SECRET = re.compile(
    r"(password|passwd|passphrase|pwd|secret|token|credentials?|authorization|(api|access|private)[_-]?key)$",
    re.IGNORECASE,
)


def mask_addresses(text: str) -> str:
    """Text in which user and password of every address, ``http://user:password@host``, are masked."""
    return _USER.sub(f"{MASK}@", text)


def masked(value: Any) -> Any:
    """Settings, with addresses and all values of keys named as a password, token, secret, credential or key masked."""
    if isinstance(value, Mapping):
        return {key: MASK if _SECRET.search(str(key)) else masked(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(masked, value))
    return mask_addresses(value) if isinstance(value, str) else value


def handed_over(settings: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The environment in which `unmasked` finds what is masked in some settings; empty if nothing is."""
    secret = {_identity(entry): entry for entry in settings if masked(entry) != entry}
    return {VARIABLE: json.dumps(secret)} if secret else {}


def unmasked(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings with what was masked in them, where the environment has it."""
    secret: dict[str, Mapping[str, Any]] = json.loads(os.environ.get(VARIABLE, "{}"))
    return secret.get(_identity(settings), settings)


def _identity(settings: Mapping[str, Any]) -> str:
    return json.dumps(masked(settings), sort_keys=True)
