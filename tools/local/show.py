"""Draws a timeline, prints memories, and tells the ways to explore the twin."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from tools.local.demo import Demo

HIDDEN: Final = frozenset({"amount", "currency", "mediaType"})
"""Fields of a payload that the line leaves out or has said already."""
WIDTH: Final = 140
"""Columns where the output is no terminal."""


def show(demo: Demo, items: list[dict[str, Any]], memories: str, identities: list[dict[str, Any]]) -> None:
    """Prints the table of the timeline, the text of the memories, what the lead is known by, and the URLs."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    stack = demo.stack
    table = Table(
        title=f"Timeline of {demo.person.lead} ({stack['organizationId']}), as the API tells it", title_justify="left"
    )
    for heading in ("occurred at (UTC)", "event", "source", "came by", "what"):
        table.add_column(heading, overflow="fold")
    for item in items:
        entrance = demo.sent.get((item["source"], item["eventType"]))
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
    console.print(f"[italic]Memories of {demo.person.lead}, as an agent's prompt gets them (format=text)[/italic]")
    for line in memories.rstrip().splitlines():
        console.print(line, style="" if line.startswith("- ") else "bold", highlight=False, markup=False)
    console.print()
    kinds = Counter(each["kind"] for each in identities)
    known = ", ".join(f"{kind} ×{count}" if count > 1 else kind for kind, count in kinds.items())
    console.print(f"known by   {known}; customer is a provider's own id of her", soft_wrap=True, highlight=False)
    url = stack["apiUrl"]
    console.print(f"API        {url}", soft_wrap=True, highlight=False)
    console.print(f"reference  {url}/docs", soft_wrap=True, highlight=False)
    console.print(f"OpenAPI    {url}/openapi.json", soft_wrap=True, highlight=False)
    console.print(f"AWS        {demo.twin.endpoint}  (key pair test/test, region {stack['region']})", highlight=False)
    console.print(f"twin       {demo.twin.stack_file}, log {demo.twin.log}", soft_wrap=True, highlight=False)
    for name, path in (("timeline", "events"), ("memories", "memories"), ("as text", "memories?format=text")):
        command = f'curl -s -H "Authorization: Bearer $(make -s token)" "{url}{demo.lead_path}/{path}"'
        console.print(f"{name:<9}  {command}", soft_wrap=True, highlight=False, markup=False)
    console.print()


def _what(item: dict[str, Any]) -> str:
    """The payload in a line: what is neither an id nor a list."""
    payload: dict[str, Any] = item["payload"]
    parts = [f"{payload['amount']} {payload.get('currency', '')}"] if "amount" in payload else []
    for name, value in payload.items():
        if isinstance(value, str) and name not in HIDDEN and not name.endswith("Id"):
            parts.append(value)
        elif isinstance(value, bool | int | float) and name not in HIDDEN:
            parts.append(f"{name} {json.dumps(value)}")
    attribution = payload.get("attribution", {})
    via = [str(attribution[name]) for name in ("source", "campaign") if name in attribution]
    return " · ".join([*parts, *(["via " + "/".join(via)] if via else [])])[:90]
