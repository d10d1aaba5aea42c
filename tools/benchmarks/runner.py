"""Runs one bundle as Lambda does, in a process of its own: imports its handler, then serves the given events.

Started with ``python -I -S runner.py SPEC.json``: nothing but the standard library is on the path until this adds the
bundle's folders. What Lambda's runtime interface client has imported before a handler is imported here too, so that it
counts for neither side. Prints one JSON object: milliseconds of the import, and of each event in wall and processor time.
"""

from __future__ import annotations

import base64  # noqa: F401
import decimal  # noqa: F401
import functools  # noqa: F401
import importlib
import io
import json
import logging.config  # noqa: F401
import sys
import time
import traceback  # noqa: F401
import types
import uuid
import warnings  # noqa: F401
from pathlib import Path
from typing import Any


def main(spec: dict[str, Any]) -> dict[str, Any]:
    """Import and serve; ``events`` are JSON texts in which ``@RUN@`` is a new id every time."""
    sys.path[:0] = spec["path"]
    begun = time.perf_counter()
    handler = importlib.import_module("handler").handler
    imported = time.perf_counter()
    served: list[dict[str, float]] = []
    answer: Any = None
    for text in spec["events"]:
        event = json.loads(text.replace("@RUN@", uuid.uuid4().hex))
        context = _context()
        wall, processor = time.perf_counter(), time.process_time()
        answer = handler(event, context)
        served.append(
            {"wall": (time.perf_counter() - wall) * 1e3, "processor": (time.process_time() - processor) * 1e3}
        )
    return {"import": (imported - begun) * 1e3, "served": served, "answer": answer, "modules": len(sys.modules)}


def _context() -> Any:
    return types.SimpleNamespace(
        function_name="bench",
        function_version="$LATEST",
        memory_limit_in_mb=512,
        invoked_function_arn="arn:aws:lambda:us-east-1:000000000000:function:bench",
        aws_request_id=str(uuid.uuid4()),
        log_group_name="/aws/lambda/bench",
        log_stream_name="bench",
        get_remaining_time_in_millis=lambda: 30_000,
    )


if __name__ == "__main__":
    out, sys.stdout = sys.stdout, io.StringIO()  # the handler's log lines cost what they cost, and nobody reads them
    result = main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    print(json.dumps(result, default=str), file=out, flush=True)
