"""Run by the interpreter that has kmedoids: distances and k as JSON, the loss of its PAM on the output."""

from __future__ import annotations

import json
import sys
from typing import Any


def loss(question: dict[str, Any]) -> float:
    import kmedoids
    import numpy

    found = kmedoids.pam(numpy.array(question["distance"]), question["k"], init="build")
    return float(found.loss)


if __name__ == "__main__":
    json.dump([loss(question) for question in json.load(sys.stdin)], sys.stdout)
