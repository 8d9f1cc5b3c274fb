"""The cache of compiled kernels is code: only the owner's own is used."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from restive import _kernels

needs_users = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files here")


@needs_users
def test_a_new_cache_is_for_its_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        place = tmp_path / "home" / "restive" / "numba-1"
        assert _kernels.untrusted(place) == ""
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o700


@needs_users
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_cache_that_others_may_write_to_is_not_used(tmp_path, mode):
    place = tmp_path / "cache"
    place.mkdir()
    place.chmod(mode)
    assert "others may write to" in _kernels.untrusted(place)


@needs_users
def test_a_file_that_others_may_write_to_or_a_link_is_not_used(tmp_path):
    place = tmp_path / "cache"
    place.mkdir(mode=0o700)
    (place / "kernel.nbi").write_bytes(b"")
    (place / "kernel.nbi").chmod(0o600)
    assert _kernels.untrusted(place) == ""
    (place / "kernel.nbi").chmod(0o666)
    assert "kernel.nbi" in _kernels.untrusted(place)
    (place / "kernel.nbi").chmod(0o600)
    (place / "other.nbc").symlink_to(tmp_path / "elsewhere")
    assert "other.nbc is a link" in _kernels.untrusted(place)


@needs_users
@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only root may give files away")
def test_a_cache_of_another_user_is_not_used(tmp_path):
    place = tmp_path / "cache"
    place.mkdir(mode=0o700)
    os.chown(place, 12345, 12345)
    assert "belongs to another user" in _kernels.untrusted(place)


@needs_users
@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only root may give files away")
def test_a_cache_that_another_user_could_replace_is_not_used(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 12345, 12345)
    assert _kernels.untrusted(home / "mine" / "cache") == f"{home} belongs to another user"
    assert not list(home.iterdir())


@needs_users
@pytest.mark.parametrize(("mode", "used"), [(0o757, False), (0o1757, True), (0o755, True)])
def test_a_cache_in_a_folder_that_all_may_change_is_not_used(tmp_path, mode, used):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    words = "" if used else f"others may write to {folder}"
    assert _kernels.untrusted(folder / "cache") == words


def test_an_empty_name_of_a_cache_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert _kernels.cache_directory().parent == tmp_path / "restive"


def test_no_home_is_said_in_words():
    assert "no home" in _kernels.untrusted(None)


TWICE = (
    "from restive._kernels import njit\n"
    "@njit()\ndef twice(x):\n    return 2 * x\n"
    "print(twice(21), type(twice._cache).__name__)"
)


def twice(tmp_path, place, before=""):
    """Output and complaints of a process that compiles a kernel, with the cache in ``place``."""
    (tmp_path / "twice.py").write_text(before + TWICE)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(place)}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "twice.py")], env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return done.stdout.split(), done.stderr


@needs_users
def test_kernels_compile_in_memory_where_the_cache_is_not_safe(tmp_path):
    place = tmp_path / "cache"
    place.mkdir()
    place.chmod(0o777)
    words = f"restive: compiled kernels are not kept, since others may write to {place}.\n"
    assert twice(tmp_path, place) == (["42", "NullCache"], words)
    assert not list(place.iterdir())


@needs_users
def test_a_permissive_umask_leaves_nothing_that_others_may_write_to(tmp_path):
    place = tmp_path / "cache"
    place.mkdir(mode=0o755)
    for _ in range(2):
        assert twice(tmp_path, place, "import os\nos.umask(0)\n") == (["42", "FunctionCache"], "")
        assert place.stat().st_mode & 0o777 == 0o700
    assert list(place.rglob("*.nbi"))
    assert all(path.stat().st_mode & 0o022 == 0 for path in [place, *place.rglob("*")])


@needs_users
def test_a_folder_made_for_kernels_that_were_not_compiled_is_closed_too(tmp_path):
    """Left open it would keep the cache from being used ever again."""
    place, named = tmp_path / "cache", "import os\nos.umask(0)\nimport restive._kernels.scores\n"
    place.mkdir(mode=0o755)
    for _ in range(2):
        assert twice(tmp_path, place, named) == (["42", "FunctionCache"], "")


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_cache_is_written_anew(tmp_path, kind):
    place = tmp_path / "cache"
    twice(tmp_path, place)
    (file,) = place.rglob(f"*.{kind}")
    whole = file.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], bytes(len(whole))):
        file.write_bytes(damaged)
        assert twice(tmp_path, place) == (["42", "FunctionCache"], "")
        assert len(file.read_bytes()) > 0.9 * len(whole)


@pytest.mark.skipif(os.name == "nt", reason="no limits of file sizes here")
def test_a_full_disk_costs_the_cache_and_not_the_run(tmp_path):
    place = tmp_path / "cache"
    full = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n"
    printed, said = twice(tmp_path, place, full)
    assert printed == ["42", "FunctionCache"]
    assert said.startswith(f"restive: compiled kernels are not kept, since {place}")
    assert said.count("\n") == 1
    assert not list(place.rglob("*.nb*"))
