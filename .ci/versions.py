"""The built wheel with the lowest versions that pyproject.toml allows, the sdist with the newest.

Each is installed into an empty environment, used there as a newcomer would, and then meets the core
tests: ``python3 .ci/versions.py`` runs both, ``python3 .ci/versions.py lowest`` one of them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("plot", "parquet", "dask")  # Ray alone is larger than all else; the whole suite has it
TOOLS = ("pytest", "hypothesis")
CORE = ("base", "bandit", "chains", "files", "storage", "statistics", "traces")
USE = (  # thompson and ucb1: the default one alone takes more than a minute to compile
    "plan example-1 --json",
    "learn example-1 --learner thompson --horizon 1000",
    "compare example-1 --horizon 200 --runs 2 --learners thompson,ucb1 --workers 2 --out results",
    "report results --formats html,md,csv",
)
WHERE = "import restive, sys; sys.exit(not restive.__file__.startswith(sys.prefix))"


def requirements(extras: tuple[str, ...]) -> list[str]:
    """What the package and these extras ask for, as written."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    options = project["optional-dependencies"]
    tools = [line for line in options["dev"] if re.split(r"\W", line)[0] in TOOLS]
    return [
        *project["dependencies"],
        *(line for extra in extras for line in options[extra]),
        *tools,
    ]


def lowest(requirement: str) -> str:
    """``numpy>=1.26`` as ``numpy==1.26``: pip has no other way to ask for it.

    >>> lowest("numpy>=1.26")
    'numpy==1.26'
    """
    if not re.fullmatch(r"[\w.-]+>=[\w.]+", requirement):
        raise SystemExit(f"{requirement}: write it as NAME>=VERSION, so that it can be tried")
    return requirement.replace(">=", "==")


def run(*words: object, **options: object) -> None:
    """Run a command; its words on standard error if it fails."""
    line = [str(word) for word in words]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        sys.stderr.buffer.write(done.stdout)
        raise SystemExit(f"{' '.join(line)}: ended in {done.returncode}")


def environment(place: Path) -> Path:
    """An empty environment; its Python."""
    run(sys.executable, "-m", "venv", place)
    return place / "bin" / "python"


def pip(python: Path, *words: object) -> None:
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *words)


def build(room: Path) -> dict[str, Path]:
    """The wheel and the sdist."""
    python = environment(room / "builder")
    pip(python, "hatchling")
    run(python, "-m", "hatchling", "build", "-d", room / "dist", cwd=ROOT)
    (wheel,), (sdist,) = (room / "dist").glob("*.whl"), (room / "dist").glob("*.tar.gz")
    return {"lowest": wheel, "newest": sdist}


def check(kind: str, package: Path, room: Path) -> None:
    """Install, use and test the package in environments of its own."""
    python = environment(room / kind)
    pins = [lowest(line) for line in requirements(EXTRAS)] if kind == "lowest" else []
    bounds = room / f"{kind}.txt"
    bounds.write_text("".join(f"{pin}\n" for pin in pins))
    pip(python, "-c", bounds, package)
    setting = {**os.environ, "NUMBA_CACHE_DIR": str(room / f"{kind}-cache"), "PYTHONPATH": ""}
    work = room / f"{kind}-work"
    work.mkdir()
    run(python, "-c", WHERE, cwd=work, env=setting)
    for command in USE:
        run(python.with_name("restive"), *command.split(), cwd=work, env=setting)
    pip(python, "-c", bounds, *requirements(EXTRAS))  # the package itself is there already
    tests = [f"tests/test_{name}.py" for name in CORE]
    # packages warn of each other's age: that is not ours to mend, and no failure here
    words = ("-W", "default", "-p", "no:cacheprovider")
    run(python, "-m", "pytest", *words, *tests, cwd=ROOT, env=setting)
    print(f"{kind} versions: {package.name} installed, used and tested", flush=True)


def both(room: Path) -> int:
    """Side by side: each has one core; how many failed."""
    packages = build(room)
    children = [
        subprocess.Popen([sys.executable, __file__, kind, str(package), str(room)])
        for kind, package in packages.items()
        if possible(kind)
    ]
    return sum(child.wait() != 0 for child in children)


def possible(kind: str) -> bool:
    """The lowest versions of packages belong to the lowest Python: newer ones came after them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    if kind == "newest" or project["requires-python"] == f">={python}":
        return True
    print(f"lowest versions: not tried with Python {python}", flush=True)
    return False


def main(words: list[str]) -> int:
    if len(words) == 3:
        check(words[0], Path(words[1]), Path(words[2]))
        return 0
    with TemporaryDirectory(prefix="restive-versions-") as name:
        room = Path(name)
        if not words:
            return both(room)
        check(words[0], build(room)[words[0]], room)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
