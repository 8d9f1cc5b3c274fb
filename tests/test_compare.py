"""``restive compare`` in real processes: interrupted, killed, twice at once, and on clusters."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mortal import kept
from restive import load_experiment, problems
from restive.cli import app
from restive.model import files

PROGRAM = [sys.executable, "-c", "from restive.cli import main; main()", "compare"]
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join(
        [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    ),
    "RAY_DEDUP_LOGS": "0",
    "RAY_AUTH_MODE": "disabled",  # else a cluster made for a test asks for a token of its own
}
LIMIT = 600  # seconds after which something hangs, on a machine with other work too
EXPERIMENT = """
problems = ["one.toml"]
horizons = 300
runs = {runs}
learners = ["thompson", {{ name = "mortal:{who}", label = "odd", options = {{ {option} }} }}]
"""


def cells(where):
    return sorted(where.glob("cells/*/*/*.json"))


def write(folder, who, option, runs=10):
    (folder / "one.toml").write_text(files.dump_problem(problems.example1()))
    path = folder / "experiment.toml"
    path.write_text(EXPERIMENT.format(runs=runs, who=who, option=option))
    return path


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """An experiment that takes a few seconds, and what it comes to in one process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    path = write(folder, "slow", "seconds = 0.15")
    load_experiment(path).run(folder / "out", workers=1)
    return path, kept(folder / "out")


STARTED = []


def start(*words):
    process = subprocess.Popen(
        [*PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=ENVIRONMENT, start_new_session=True, preexec_fn=heed_interrupts,
    )  # fmt: skip
    STARTED.append(process)
    return process


@pytest.fixture(autouse=True)
def nobody_is_left():
    """Whatever becomes of a test, its processes end with it, workers and pipes included."""
    yield
    while STARTED:
        with STARTED.pop() as process, suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def heed_interrupts():
    """A program started in the background of a shell ignores them, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finish(process):
    out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out, err


def wait_for(where, count):
    deadline = time.monotonic() + LIMIT
    while len(cells(where)) < count:
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(0.01)


def test_killed_it_goes_on_and_ends_with_the_same_bytes(undisturbed, tmp_path):
    path, wanted = undisturbed
    where = tmp_path / "out"
    process = start(path, "--out", where, "--workers", 2)
    wait_for(where, 5)
    os.kill(process.pid, signal.SIGKILL)
    assert finish(process)[0] == -signal.SIGKILL
    finished = {cell: cell.stat().st_mtime_ns for cell in cells(where)}
    assert 5 <= len(finished) < 20
    assert not (where / "summary.json").exists()
    shown = CliRunner().invoke(app, ["compare", str(path), "--out", str(where), "--workers", "1"])
    assert shown.exit_code == 0, shown.stderr
    assert f"{len(finished)} of 20 runs were there already" in shown.stderr
    assert "one, 300 steps: the best policy earns 0.7000 per step" in shown.stdout
    assert kept(where) == wanted
    assert {cell: cell.stat().st_mtime_ns for cell in finished} == finished  # none was run again


def test_an_interrupt_keeps_what_is_finished_and_says_how_to_go_on(undisturbed, tmp_path):
    path, wanted = undisturbed
    where = tmp_path / "out"
    process = start(path, "--out", where, "--workers", 2)
    wait_for(where, 4)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    code, _, err = finish(process)
    assert code == 130
    assert err == (
        f"restive: stopped. What is finished is in {where}; the same command goes on from there.\n"
    )
    assert 4 <= len(cells(where)) < 20
    assert '"interrupted"' in (where / "log.jsonl").read_text()
    load_experiment(path).run(where, workers=1)
    assert kept(where) == wanted


def test_two_at_once_on_one_directory(undisturbed, tmp_path):
    path, _ = undisturbed
    where = tmp_path / "out"
    first = start(path, "--out", where, "--workers", 1)
    try:
        wait_for(where, 1)
        os.kill(first.pid, signal.SIGSTOP)  # it must not end while the second one starts
        code, _, err = finish(start(path, "--out", where, "--workers", 1))
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
    assert code == 2
    assert f"{where}: another comparison is writing there (found process {first.pid} on " in err
    shown = CliRunner().invoke(app, ["compare", str(path), "--out", str(where), "--workers", "1"])
    assert shown.exit_code == 0, shown.stderr  # the lock went with the process


def address_in(listing):
    """Of the scheduler that writes this file, which may be there before its content is."""
    deadline = time.monotonic() + LIMIT
    while True:
        with suppress(OSError, ValueError):
            return json.loads(listing.read_text())["address"]
        assert time.monotonic() < deadline, "no scheduler"
        time.sleep(0.05)


@contextmanager
def dask_cluster(folder):
    """A scheduler and two workers as processes of their own; yields its address and workers."""
    listing = folder / "scheduler.json"
    ends = ["--scheduler-file", str(listing), "--no-dashboard"]
    tool = [sys.executable, "-m", "distributed.cli"]
    quiet = {"env": ENVIRONMENT, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen([*tool[:2], "distributed.cli.dask_scheduler", "--port", "0", *ends],
                                **quiet)]  # fmt: skip
    try:
        for _ in range(2):
            command = [*tool[:2], "distributed.cli.dask_worker", "--nthreads", "1", *ends]
            started.append(subprocess.Popen([*command, "--no-nanny"], cwd=folder, **quiet))
        yield address_in(listing), started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_killed_worker_of_a_dask_cluster_costs_no_result(undisturbed, tmp_path):
    path, wanted = undisturbed
    where = tmp_path / "out"
    with dask_cluster(tmp_path) as (address, workers):
        process = start(path, "--out", where, "--backend", "dask", "--address", address)
        wait_for(where, 6)
        workers[0].kill()
        code, _, err = finish(process)
    assert code == 0, err
    assert kept(where) == wanted


RAY = """
import ray, sys, time
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def ray_cluster():
    """Ray with two processors, alive as long as the process that started it."""
    command = [sys.executable, "-c", RAY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, env=ENVIRONMENT) as head:  # fmt: skip
        address = head.stdout.readline().strip()
        assert address, "Ray did not start"
        yield address
        head.stdin.close()


@pytest.mark.parametrize("backend", ["local", "ray"])
def test_a_worker_that_dies_costs_no_result(backend, tmp_path):
    marker = tmp_path / "marker"
    path = write(tmp_path, "build", f'marker = "{marker}"', runs=4)
    marker.touch()
    load_experiment(path).run(tmp_path / "undisturbed", workers=1)
    marker.unlink()
    where = tmp_path / "out"
    if backend == "local":
        code, _, err = finish(start(path, "--out", where, "--workers", 2))
    else:
        with ray_cluster() as address:
            words = ("--backend", "ray", "--address", address)
            code, _, err = finish(start(path, "--out", where, *words))
    assert code == 0, err
    assert marker.exists()
    assert "a worker was lost" in err
    assert kept(where) == kept(tmp_path / "undisturbed")


def refused(folder, *words):
    shown = CliRunner().invoke(app, ["compare", *map(str, words)])
    assert shown.exit_code == 2, shown.stdout
    assert "Traceback" not in shown.stderr
    assert shown.stdout == ""
    assert not (folder / "out").exists()
    return shown.stderr


def test_bad_input_is_told_all_at_once(tmp_path):
    out = tmp_path / "out"
    words = refused(tmp_path, tmp_path / "gone.toml", "--out", out, "--learners", "ucb1,tide",
                    "--runs", "0")  # fmt: skip
    for part in ("gone.toml", "--learners: no such learner (found tide)", "--runs: not a"):
        assert part in words
    problem = write(tmp_path, "slow", "seconds = 0").with_name("one.toml")
    for steps in ("many", "0", "1e13"):
        words = refused(tmp_path, problem, "--out", out, "--horizon", steps)
        assert "--horizon: not a number of steps" in words
        assert "from 1 to 1e12" in words
    words = refused(tmp_path, problem, "--out", out, "--learners", " , ")
    assert words.splitlines() == [words.strip()]
    assert "--learners: there are none" in words
    assert "--delta" in refused(tmp_path, problem, "--out", out, "--delta", "2")
    words = refused(tmp_path, problem, "--out", out, "--address", "x", "--workers", "0")
    assert "--address: local workers have none" in words
    assert "--workers: not a number" in words
    both = refused(tmp_path, problem, tmp_path / "experiment.toml", "--out", out)
    assert "an experiment file beside others" in both


def test_no_cluster_at_the_address(tmp_path):
    problem = write(tmp_path, "slow", "seconds = 0").with_name("one.toml")
    words = [problem, "--out", tmp_path / "out", "--backend", "dask", "--address", "tcp://[::1]:1"]
    code, _, err = finish(start(*words, "--learners", "ucb1", "--horizon", "50", "--runs", "1"))
    assert code == 2
    assert "--address: no answer" in err
    assert "Traceback" not in err


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    problem = write(tmp_path, "slow", "seconds = 0").with_name("one.toml")
    shown = CliRunner().invoke(app, ["compare", str(problem), "--out", str(tmp_path)])
    assert shown.exit_code == 2
    assert "holds other files (found experiment.toml)" in shown.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["experiment.toml", "one.toml"]


def test_a_changed_file_is_noticed(tmp_path):
    problem = write(tmp_path, "slow", "seconds = 0").with_name("one.toml")
    words = ["compare", str(problem), "--out", str(tmp_path / "out"), "--learners", "ucb1",
             "--horizon", "1e2", "--runs", "2", "--workers", "1"]  # fmt: skip
    shown = CliRunner().invoke(app, [*words, "--json"])
    assert shown.exit_code == 0, shown.stderr
    summary = json.loads(shown.stdout)
    assert [(e["learner"], e["horizon"], e["runs"]) for e in summary["entries"]] == [
        ("ucb1", 100, 2)
    ]
    command = json.loads((tmp_path / "out" / "log.jsonl").read_text().splitlines()[0])["command"]
    wanted = (
        f"restive compare {problem} --learners ucb1 --horizon 100 --runs 2 --out {tmp_path}/out"
    )
    assert command == f"{wanted} --workers 1"
    problem.write_text("# a comment\n" + problem.read_text())
    assert CliRunner().invoke(app, words).exit_code == 0
    problem.write_text(problem.read_text().replace("0.9", "0.8").replace("0.1", "0.2"))
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 2
    place = "problems[0] (one).arms[0].transitions[0][0]: differs from the experiment in"
    assert place in " ".join(shown.stderr.split())
    assert "which has 0.9 (found 0.8)" in " ".join(shown.stderr.split())
