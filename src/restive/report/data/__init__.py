"""Traces and what was fitted to them, as a page."""
