"""What each stage of a run took, told while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Stages:
    """A stopwatch for the stages of a run; `tell` hears the name of each as it starts."""

    tell: Callable[[str], None] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    _open: list[float] = field(default_factory=list)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time a stage; what its inner stages take is theirs."""
        if self.tell:
            self.tell(name)
        started = time.perf_counter()
        self._open.append(0.0)
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            inner = self._open.pop()
            if self._open:
                self._open[-1] += spent
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - inner
