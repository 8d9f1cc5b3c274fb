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


def test_no_home_is_said_in_words():
    assert "no home" in _kernels.untrusted(None)


MEMORY = (
    "from restive._kernels import njit\n"
    "@njit()\ndef twice(x):\n    return 2 * x\n"
    "print(twice(21), type(twice._cache).__name__)"
)


@needs_users
def test_kernels_compile_in_memory_where_the_cache_is_not_safe(tmp_path):
    place = tmp_path / "cache"
    place.mkdir()
    place.chmod(0o777)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(place)}
    (tmp_path / "twice.py").write_text(MEMORY)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "twice.py")], env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["42", "NullCache"]
    assert done.stderr == (
        f"restive: compiled kernels are not kept, since others may write to {place}.\n"
    )
    assert not list(place.iterdir())


@needs_users
def test_a_permissive_umask_leaves_nothing_that_others_may_write_to(tmp_path):
    place = tmp_path / "cache"
    (tmp_path / "twice.py").write_text("import os\nos.umask(0)\n" + MEMORY)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(place)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(tmp_path / "twice.py")], env=environment, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        assert done.stderr == ""
        assert done.stdout.startswith("42")
    assert list(place.rglob("*.nbi"))
    assert all(path.stat().st_mode & 0o022 == 0 for path in [place, *place.rglob("*")])
