"""Public traces that tests read where they are: a folder shared/data beside or above the project.

RESTIVE_SHARED_DATA names another folder. The traces are never copied; where there are none, their
tests are skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["SHARED"]


def _folder() -> Path | None:
    named = os.environ.get("RESTIVE_SHARED_DATA")
    above = [Path(named)] if named else [p / "shared" / "data" for p in Path(__file__).parents]
    return next((folder for folder in above if folder.is_dir()), None)


SHARED = _folder()
