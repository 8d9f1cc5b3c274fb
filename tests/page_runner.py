"""Runs the examples of a page: programs and commands, which must print what the page shows.

The blocks of a page run in order, in one folder and one namespace:

- ``python``: run; if its first line names a file (``# mine.py``), written there instead.
- ``pycon``: a doctest.
- ``console``: lines after ``$`` are commands, the others what they print, if any are shown;
  ``...`` stands for any text.
- ``toml``: written to the file that its first line names.

``<!-- not run: reason -->`` before a block leaves it out.
"""

from __future__ import annotations

import doctest
import linecache
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

BLOCK = re.compile(r"(?ms)(<!-- not run: [^>]+ -->\n+)?^```(\w+)\n(.*?)^```$")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# with a new cache only
NOTICE = "restive: compiling kernels, once; later runs of this kind start at once.\n"
RUN = ("python", "pycon", "console", "toml")


def blocks(text):
    """Language, text and line of what is to be run."""
    for match in BLOCK.finditer(text):
        skipped, language, content = match.groups()
        if not skipped and language in RUN:
            yield language, content, text[: match.start(3)].count("\n") + 1


def file_name(content):
    """The file that a block's first line names."""
    match = re.match(r"# ([\w-]+\.\w+)\b", content)
    return match[1] if match else ""


def run_python(content, scope, where):
    if file_name(content).endswith(".py"):
        Path(file_name(content)).write_text(content, "utf-8")
        return
    # inspect finds the source of classes and functions here, as it does in a notebook
    linecache.cache[where] = len(content), None, content.splitlines(keepends=True), where
    exec(compile(content, where, "exec"), scope)


def run_pycon(content, scope, where):
    test = doctest.DocTestParser().get_doctest(content, scope, where, where, 0)
    test.globs = scope
    said = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)


def commands(content):
    """Pairs of a command and what it prints."""
    for part in re.split(r"(?m)^\$ ", content)[1:]:
        command, _, printed = part.partition("\n")
        while command.endswith("\\"):
            more, _, printed = printed.partition("\n")
            command = f"{command[:-1]}{more.lstrip('> ')}"
        yield command, printed


def run_console(content, where):
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    setting = {**os.environ, "PATH": tools, "COLUMNS": "80", "MPLBACKEND": "agg", "TERM": "dumb"}
    for command, printed in commands(content):
        done = subprocess.run(["bash", "-c", command], env=setting, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)  # fmt: skip
        assert done.returncode == 0, f"{where}: {command} ended in {done.returncode}\n{done.stdout}"
        same = doctest.OutputChecker().check_output(printed, done.stdout.replace(NOTICE, ""), FLAGS)
        assert same or not printed.strip(), f"{where}: {command} printed\n{done.stdout}"


def run_page(text, name):
    scope = {"__name__": "page"}
    for language, content, line in blocks(text):
        where = f"{name}, line {line}"
        if language == "python":
            run_python(content, scope, where)
        elif language == "pycon":
            run_pycon(content, scope, where)
        elif language == "console":
            run_console(content, where)
        elif file_name(content):
            Path(file_name(content)).write_text(content, "utf-8")


@contextmanager
def one_core():
    """Comparisons start a process for every core; for these small ones that is most of the time."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "0")))
    os.sched_setaffinity(0, {sorted(cores)[worker % len(cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
