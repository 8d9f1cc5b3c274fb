"""Ctrl-C: always an end soon after it, in 130 and without a traceback.

Long calls that are deaf go to another thread (``_kernels/hearing``). For what is slow in other ways
the command has a watchdog (``end_soon``): the system itself tells it of a signal, and it ends the
process if the main thread does not. Files are whole or not there however a process ends
(``base/writing``).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, process_time, sleep
from types import FrameType
from typing import Any, NoReturn

INTERRUPTED = 130  # exit code: what shells make of a process that SIGINT ended
HURRY = 1e-4  # seconds that the main thread waits for its turn, if another one is compiling
STEP = 0.02  # seconds between two looks
WORK = 0.7  # seconds of processor time in which the main thread has to come to an end
WAIT = 3.0  # seconds by the clock, where it waits for others or the machine is busy

_presses = 0  # interrupts that the system told of
_answers = 0  # those of them whose result is on the screen
_pressed = threading.Event()


def end_soon() -> None:
    """From now on Ctrl-C ends this process within about a second, whatever its threads do."""
    if os.name != "posix" or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _interrupt)
    threading.Thread(target=_watch, args=(told,), name="watchdog", daemon=True).start()


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    _pressed.set()
    raise KeyboardInterrupt


def answered() -> None:
    """What was known is on the screen: what is still to be done may take its time again.

    The next Ctrl-C ends it.
    """
    global _answers
    _answers = _presses


def quiet_end(run: Callable[[], Any]) -> None:
    """Run the command; whatever an interrupt turned into on its way up ends in 130."""
    try:
        run()
    except KeyboardInterrupt:
        _leave(INTERRUPTED)
    except SystemExit as end:
        if end.code == INTERRUPTED or (_pressed.is_set() and end.code):
            _leave(INTERRUPTED)
        raise
    except BaseException:
        if _pressed.is_set():
            _leave(INTERRUPTED)
        raise


def _leave(code: int) -> NoReturn:
    """End at once: taking down a compiler takes longer than many a command."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(code)


def _watch(told: int) -> None:
    global _presses
    while True:
        if os.read(told, 1)[0] == signal.SIGINT:
            _presses += 1
            sys.setswitchinterval(HURRY)
            threading.Thread(target=_end_unless_answered, args=(_presses,), daemon=True).start()


def _end_unless_answered(number: int) -> None:
    used, began = process_time(), monotonic()
    while process_time() - used < WORK and monotonic() - began < WAIT:
        sleep(STEP)
        if _answers >= number:
            return
    _show_cursor()
    os._exit(INTERRUPTED)  # without flushing: the main thread may be stuck in just that


def _show_cursor() -> None:
    """A live line hides it."""
    with suppress(Exception):
        if os.isatty(2):
            os.write(2, b"\x1b[?25h\n")
