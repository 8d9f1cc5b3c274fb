"""One module for each command, which registers it with the application when imported."""
