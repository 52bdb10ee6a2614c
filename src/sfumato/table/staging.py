"""Whole or not at all: files are made beside their destination and moved there when complete."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.errors import DestinationError

PREFIX = ".sfumato-"


def refusal(fault: OSError, destination: Path) -> DestinationError:
    """Why the operating system does not let us write there, and what to do."""
    reasons = {
        errno.ENOSPC: ("the disk is full", "Free some room or choose another disk."),
        errno.EDQUOT: ("the quota of the disk is used up", "Free some room or choose another disk."),
        errno.EFBIG: ("the file would become larger than is allowed there", "Choose another place."),
        errno.EACCES: ("it may not be written", "Choose a folder that you may write to."),
        errno.EPERM: ("it may not be written", "Choose a folder that you may write to."),
        errno.EROFS: ("its disk is read-only", "Choose another place."),
        errno.ENOTDIR: ("a part of the path is a file, not a folder", "Choose another place."),
        errno.EEXIST: ("a file of that name stands where a folder is needed", "Choose another place."),
        errno.EISDIR: ("it is a folder", "Name a file in it."),
        errno.ENAMETOOLONG: ("the name is too long", "Choose a shorter name."),
        errno.ENOENT: ("its folder does not exist", "Make the folder first."),
    }
    unknown = (fault.strerror or "the system gives no reason", "Choose another place.")
    words, remedy = reasons.get(fault.errno or 0, unknown)
    shown = Path(*(part for part in destination.parts if not part.startswith(PREFIX)))
    return DestinationError(f"{shown} cannot be written: {words}.", remedy)


@contextmanager
def whole_file(destination: Path) -> Iterator[Path]:
    """A temporary path in the destination's folder, renamed to it on success and removed otherwise."""
    try:
        if destination.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder")
        handle, name = tempfile.mkstemp(prefix=PREFIX, dir=destination.parent)
    except OSError as fault:
        raise refusal(fault, destination) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        os.replace(temporary, destination)
    except OSError as fault:
        raise (refusal(fault, destination) if _concerns(fault, destination.parent) else fault) from None
    finally:
        temporary.unlink(missing_ok=True)


def _concerns(fault: OSError, folder: Path) -> bool:
    """Whether the fault is about writing in this folder (and not, say, about reading elsewhere)."""
    no_room = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
    return fault.errno in no_room or str(fault.filename or "").startswith(str(folder))


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


@contextmanager
def staged(destination: Path) -> Iterator[Path]:
    """A fresh folder whose files move to the folder `destination` on success.

    On any failure, Ctrl-C included, the destination is as it was before: what it held stands
    there unchanged, and a folder made for the purpose is gone.
    """
    made = _make(destination)
    try:
        stage = Path(tempfile.mkdtemp(prefix=PREFIX, dir=destination))
    except BaseException as fault:
        _unmake(made)
        if isinstance(fault, OSError):
            raise refusal(fault, destination) from None
        raise
    try:
        yield stage
        _move_all(stage, destination)
    except BaseException as fault:
        shutil.rmtree(stage, ignore_errors=True)
        _unmake(made)
        if isinstance(fault, OSError) and _concerns(fault, destination):
            raise refusal(fault, destination) from None
        raise
    shutil.rmtree(stage, ignore_errors=True)


def require_writable(folder: Path) -> None:
    """Refuse a destination that cannot be written before any work is done for it."""
    made = _make(folder)
    try:
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=folder).cleanup()
    except OSError as fault:
        raise refusal(fault, folder) from None
    finally:
        _unmake(made)


def _make(folder: Path) -> list[Path]:
    """Make the folder with its parents; the ones made, deepest first."""
    missing: list[Path] = []
    try:
        missing = [p for p in (folder, *folder.parents) if not p.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        _unmake(missing)
        raise refusal(fault, folder) from None
    return missing


def _unmake(folders: list[Path]) -> None:
    for folder in folders:
        if os.path.isdir(folder) and not any(folder.iterdir()):
            folder.rmdir()


def _move_all(stage: Path, destination: Path) -> None:
    """Move every file of the stage; if one cannot be moved, put back all that stood there."""
    before = Path(tempfile.mkdtemp(prefix=PREFIX, dir=destination))
    moved: list[Path] = []
    try:
        for made in sorted(stage.iterdir()):
            target = destination / made.name
            moved.append(target)
            if target.exists():
                os.replace(target, before / made.name)
            os.replace(made, target)
    except BaseException:
        for target in moved:
            _put_back(target, before / target.name, stage / target.name)
        raise
    finally:
        shutil.rmtree(before, ignore_errors=True)


def _put_back(target: Path, old: Path, new: Path) -> None:
    if target.exists() and not new.exists():
        os.replace(target, new)
    if old.exists():
        os.replace(old, target)
