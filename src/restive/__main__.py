"""The command ``restive``, also ``python -m restive``: an interrupt ends it in 130, always."""

import sys


def main() -> None:
    """Import the command line and run it; Ctrl-C while it is imported is no traceback either."""
    try:
        from restive.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
