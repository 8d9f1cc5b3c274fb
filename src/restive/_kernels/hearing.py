"""Ctrl-C is heard while the compiler is at work.

Python hears a signal between two steps of the main thread's own code, so one long call of a
compiler is deaf to it, and an interrupt in its midst comes out as any error. Such calls go to
another thread, while the main thread waits and listens.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["heard"]

T = TypeVar("T")


def heard(work: Callable[[], T]) -> T:
    """What ``work`` returns or raises; in the main thread Ctrl-C is heard while it goes on.

    After an interrupt it goes on by itself to its end, so nothing is left half done.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[T] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="heard").start()
    while not done.wait(0.1):  # in steps, since Windows hears nothing during a long wait
        pass
    if errors:
        raise errors[0]
    return results[0]
