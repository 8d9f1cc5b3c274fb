"""Settings for all tests: Hypothesis draws the same examples every time and sets no deadlines."""

from hypothesis import settings

settings.register_profile("restive", deadline=None, derandomize=True)
settings.load_profile("restive")
