"""The command ``restive``, also ``python -m restive``: an interrupt ends it in 130, always."""

from restive.base import interrupts


def main() -> None:
    """Import the command line and run it; Ctrl-C while it is imported is no traceback either."""
    interrupts.end_soon()
    interrupts.quiet_end(_run)


def _run() -> None:
    from restive.cli import main as run

    run()


if __name__ == "__main__":
    main()
