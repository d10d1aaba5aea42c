"""Draws a timeline and the ways to explore the twin."""

from __future__ import annotations

import json
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from tools.local.demo import Demo

HIDDEN: Final = frozenset({"currency"})
WIDTH: Final = 140
"""Columns where the output is no terminal."""


def show(demo: Demo, items: list[dict[str, Any]]) -> None:
    """Prints the table of the timeline and the URLs."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    stack = demo.stack
    table = Table(
        title=f"Timeline of {demo.lead} ({stack['organizationId']}), as the API tells it", title_justify="left"
    )
    for heading in ("occurred at (UTC)", "event", "source", "came by", "what"):
        table.add_column(heading, overflow="fold")
    for item in items:
        entrance = demo.sent.get(item.get("externalEventId", ""))
        table.add_row(
            item["occurredAt"][:19].replace("T", " "),
            item["eventType"],
            item["source"],
            str(entrance or "?"),
            _what(item),
        )
    console.print()
    console.print(table)
    console.print()
    url = stack["apiUrl"]
    console.print(f"API        {url}", soft_wrap=True, highlight=False)
    console.print(f"reference  {url}/docs", soft_wrap=True, highlight=False)
    console.print(f"OpenAPI    {url}/openapi.json", soft_wrap=True, highlight=False)
    console.print(f"AWS        {demo.twin.endpoint}  (key pair test/test, region {stack['region']})", highlight=False)
    console.print(f"twin       {demo.twin.stack_file}, log {demo.twin.log}", soft_wrap=True, highlight=False)
    console.print("timeline   ", end="", highlight=False)
    command = f'curl -s -H "Authorization: Bearer $(make -s token)" "{url}{demo.lead_path}/events"'
    console.print(command, soft_wrap=True, highlight=False, markup=False)
    console.print()


def _what(item: dict[str, Any]) -> str:
    """The payload in a line."""
    payload: dict[str, Any] = item["payload"]
    amount = f"{payload['amount']} {payload.get('currency', '')}" if "amount" in payload else None
    parts = [amount] if amount else []
    for name, value in payload.items():
        if name in HIDDEN or name == "amount" or name.endswith("Id") or value is None:
            continue
        parts.append(value if isinstance(value, str) else f"{name} {json.dumps(value, ensure_ascii=False)}")
    return " · ".join(parts)[:90]
