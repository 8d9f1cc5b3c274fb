"""JSON that is the same for equal values, and one error for every damaged file."""

from __future__ import annotations

import json
from hashlib import sha256
from math import isfinite
from typing import Any


def finite_or_none(value: Any) -> Any:
    """The value, or None for a float that JSON has no word for."""
    return None if isinstance(value, float) and not isfinite(value) else value


def canonical_json(value: Any) -> bytes:
    """JSON that is the same for equal values, and readable.

    >>> canonical_json({"b": 1, "a": [2]})
    b'{\\n "a": [\\n  2\\n ],\\n "b": 1\\n}\\n'
    """
    return (json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def json_hash(value: Any) -> str:
    """The same for equal values."""
    return sha256(canonical_json(value)).hexdigest()


def read_json(content: bytes | str) -> Any:
    """The value of a JSON text; ValueError for whatever is wrong with it.

    Brackets nested beyond what the interpreter can follow are a ValueError too.
    """
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("brackets are nested too deeply") from None
