"""Ctrl-C: heard while a deaf call goes on, and an end whatever becomes of it."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from restive import _kernels
from restive._kernels.hearing import heard
from restive.base.machine import helpers

PATIENCE = 300  # seconds, against hanging


@pytest.fixture
def heeded():
    """Ctrl-C as in a terminal; started in the background a process ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_what_is_heard_returns_and_raises():
    assert heard(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        heard(lambda: 1 // 0)


@pytest.mark.usefixtures("heeded")
def test_an_interrupt_does_not_wait_for_a_deaf_call_and_leaves_it_whole():
    go_on, ended = threading.Event(), threading.Event()

    def deaf():
        press()
        go_on.wait(PATIENCE)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        heard(deaf)
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(PATIENCE)


def test_other_threads_do_it_themselves():
    seen = []
    worker = threading.Thread(target=lambda: seen.append(heard(threading.current_thread)))
    worker.start()
    worker.join()
    assert seen == [worker]


def test_a_function_of_the_users_own_may_call_a_kernel():
    """Its compiler holds the lock already, in the main thread: nobody else may wait for it."""
    program = """
import numba
from restive import _kernels

@_kernels.njit(cache=False)
def twice(x):
    return 2 * x

@numba.njit
def own(x):
    return twice(x) + 1

print(own(3))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                           timeout=PATIENCE)  # fmt: skip
    assert ended.stdout == "7\n", ended.stderr


@pytest.mark.usefixtures("heeded")
def test_compiling_does_not_hold_up_an_interrupt_and_comes_to_its_end():
    _kernels._configure()  # so that compiling is announced

    @_kernels.njit(cache=False)
    def kernel(x):
        return 2 * x

    _kernels.announce_compiling(press)
    with pytest.raises(KeyboardInterrupt):
        kernel(1)
    for thread in threading.enumerate():
        if thread.name == "heard":
            thread.join(PATIENCE)
    assert kernel.signatures
    assert kernel(2) == 4


@pytest.mark.usefixtures("heeded")
def test_nobody_waits_for_threads_after_an_interrupt():
    go_on = threading.Event()

    def interrupted():
        with helpers(1) as pool:
            future = pool.submit(go_on.wait, PATIENCE)
            press()
            future.result()

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not go_on.is_set()
    go_on.set()


def ended(program):
    """Exit code and complaints of a program after its own Ctrl-C."""
    lines = f"import os, signal\nfrom restive.base import interrupts\n{program}"
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, timeout=PATIENCE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


DEAF = """
def run():
    print("known", flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        try:
            while True: pass
        except KeyboardInterrupt:
            pass
"""
CHANGED = """
def run():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while True: pass
    except KeyboardInterrupt:
        print("known")
        raise RuntimeError("a compiler that was disturbed") from None
"""
ABORTED = CHANGED.replace('RuntimeError("a compiler that was disturbed")', "SystemExit(1)")
BROKEN = """
def run():
    raise RuntimeError("on its own")
"""
ENDING = "interrupts.end_soon()\ninterrupts.quiet_end(run)"


@pytest.mark.parametrize("program", [DEAF, CHANGED, ABORTED], ids=["deaf", "changed", "aborted"])
def test_whatever_an_interrupt_becomes_ends_in_130_with_what_was_known(program):
    assert ended(program + ENDING) == (130, "known\n", "")


def test_errors_of_their_own_are_still_told():
    code, _, complaint = ended(BROKEN + ENDING)
    assert code == 1
    assert "on its own" in complaint


ANSWERED = """
def run():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while True: pass
    except KeyboardInterrupt:
        import time
        time.sleep(0.1)
        interrupts.answered()
    used = time.process_time()
    while time.process_time() < used + 2 * interrupts.WORK: pass
    print("drawn")
"""


def test_what_was_asked_for_may_take_its_time_once_the_result_is_told():
    assert ended(ANSWERED + ENDING) == (0, "drawn\n", "")
