"""The command line: every module in ``commands`` adds its own command to the application."""

from importlib import import_module
from pkgutil import iter_modules

from restive.cli import commands
from restive.cli.app import app, main

__all__ = ["app", "main"]

for module in iter_modules(commands.__path__):
    import_module(f"{commands.__name__}.{module.name}")
