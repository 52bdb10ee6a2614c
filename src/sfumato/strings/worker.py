"""The process that solves one subset: a job on stdin, what was found on stdout."""

from __future__ import annotations

import pickle
import sys


def main() -> None:
    """Solve the job; the kernels take one thread, since there are other such processes."""
    from sfumato.strings.subsets import solve

    one = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(solve(one)))


if __name__ == "__main__":
    main()
