"""Tasks shared among processes of our own, so that a caller's script is not run again in each of them.

Each process is handed the job once, then a task at a time, through its standard input; what is private stays
in memory. A process whose parent is gone finds its input closed and ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

PROGRAM = "from sfumato.recommend.workers import serve; serve()"
Task = tuple[int, ...]


def shared(work: Callable[..., Any], job: Any, tasks: Sequence[Task],
           processes: int) -> Iterator[tuple[Task, Any]]:
    """Each task with `work(job, *task)`, as they are done; the first fault ends it all."""
    todo: Queue[Task] = Queue()
    done: Queue[tuple[Task, bool, Any]] = Queue()
    for task in tasks:
        todo.put(task)
    workers = [start() for _ in range(min(processes, len(tasks)))]
    try:
        for worker in workers:
            Thread(target=lead, args=(worker, (work, job), todo, done), daemon=True).start()
        for _ in tasks:
            task, fine, answer = done.get()
            if not fine:
                raise answer
            yield task, answer
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def start() -> subprocess.Popen[bytes]:
    """A process that serves; Ctrl-C is its parent's to answer."""
    home = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env={**os.environ, "PYTHONPATH": paths}, start_new_session=True)


def lead(worker: subprocess.Popen[bytes], job: Any, todo: Queue[Task],
         done: Queue[tuple[Task, bool, Any]]) -> None:
    """Hand one process its tasks, one after another, until none is left."""
    assert worker.stdin and worker.stdout
    task: Task = ()
    try:
        send(worker.stdin, job)
        while True:
            task = todo.get_nowait()
            send(worker.stdin, task)
            done.put((task, *pickle.load(worker.stdout)))
    except Empty:
        return
    except (OSError, EOFError) as fault:
        done.put((task, False, RuntimeError(f"a process ended before its task ({type(fault).__name__})")))


def send(pipe: Any, thing: Any) -> None:
    """One thing through a pipe, at once."""
    pickle.dump(thing, pipe)
    pipe.flush()


def serve() -> None:
    """Take the job, then answer task after task until there are no more."""
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # whatever is printed is no answer
    work, job = pickle.load(sys.stdin.buffer)
    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = (True, work(job, *task))
        except Exception as fault:
            answer = (False, fault)
        send(answers, answer)
