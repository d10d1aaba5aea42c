"""The twin of the memories table in memory: lead memories in a dict, with the same promises."""

from __future__ import annotations

import threading

from lead_events.categories import Category
from lead_events.memory import Memory
from lead_events.store.memories import in_order, item_of, memory_of
from lead_events.store.wire import item_from_wire, item_to_wire


class InMemoryMemories:
    """Memories in a dict; they pass through the items' codec, so that numbers come back as DynamoDB gives them back."""

    def __init__(self) -> None:
        self._memories: dict[tuple[str, str, Category], Memory] = {}
        self._lock = threading.Lock()
        self.writes = 0

    def get(self, organization_id: str, lead_id: str, category: Category) -> Memory:
        none = Memory(organization_id=organization_id, lead_id=lead_id, category=category)
        return self._memories.get((organization_id, lead_id, category), none)

    def of_lead(self, organization_id: str, lead_id: str) -> list[Memory]:
        with self._lock:
            return in_order([each for key, each in self._memories.items() if key[:2] == (organization_id, lead_id)])

    def put(self, memory: Memory) -> bool:
        written = memory_of(item_from_wire(item_to_wire(item_of(memory))))
        key = (memory.organization_id, memory.lead_id, memory.category)
        with self._lock:
            known = self._memories.get(key)
            if (known.version if known else 0) != memory.version - 1:
                return False
            self._memories[key] = written
            self.writes += 1
            return True

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._memories.clear()

    def all(self) -> list[Memory]:
        """Every memory, by lead and category."""
        return [self._memories[key] for key in sorted(self._memories)]
