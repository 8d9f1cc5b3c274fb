"""Settings for all tests: Hypothesis draws the same examples every time and sets no deadlines."""

import os

import pytest
from hypothesis import settings

settings.register_profile("restive", deadline=None, derandomize=True)
settings.load_profile("restive")


@pytest.fixture
def full_disk(monkeypatch):
    """No file can take the place of another."""

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", full)
