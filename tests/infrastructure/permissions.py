"""Who may do what could do harm, by the names that things have in a twin's description. What stands nowhere is forbidden.

Read from the other end than the expected grants: not "what does the projector need", but "who may delete a memory". The
templates are held against this table, and so is a deployed twin, with each role's own credentials.
"""

from __future__ import annotations

from typing import Final

READ, SCAN, PUT, UPDATE, DELETE = "rspud"

# fmt: off
TABLES: Final = (
    "events", "claims", "identities", "rejectedEvents", "memories", "reprocessings", "organizations", "erasures",
)
ITEMS: Final = {
    #                 events  claims  ident.  reject. memor.  repro.  organ.  erasures
    "Api":           ("rp",   "rp",   "ru",   "r",    "r",    "rpu",  "ru",   "rpu"),
    "Ingest":        ("rp",   "rp",   "ru",   "ru",   "",     "",     "ru",   "rpu"),
    "Organizations": ("rp",   "rp",   "",     "ru",   "",     "",     "ru",   "rpu"),
    "Webhooks":      ("",     "",     "",     "",     "",     "",     "",     ""),
    "Projector":     ("r",    "",     "",     "",     "rp",   "",     "r",    "r"),
    "Publisher":     ("",     "",     "",     "",     "",     "",     "r",    "r"),
    "Reprocessor":   ("rs",   "",     "",     "",     "rp",   "rpu",  "",     ""),
    "Eraser":        ("rsd",  "spd",  "rspd", "rpd",  "rsd",  "rud",  "ru",   "ru"),
    "Tokens":        ("",     "",     "",     "",     "",     "",     "",     ""),
}
"""Who reads, scans, puts, updates and deletes the items of which table."""
# fmt: on

FUNCTIONS: Final = tuple(ITEMS)
_NOBODY: Final = frozenset[str]()

OBJECTS: Final = {
    ("organizations/", "get"): {"Api", "Reprocessor", "Eraser"},
    ("organizations/", "put"): {"Api", "Ingest", "Organizations"},
    ("organizations/", "delete"): {"Eraser"},
    ("organizations/", "list"): {"Ingest", "Eraser"},
    ("inbox/", "get"): {"Ingest", "Eraser"},
    ("inbox/", "put"): {"Webhooks"},
    ("inbox/", "delete"): {"Eraser"},
    ("inbox/", "list"): {"Ingest", "Eraser"},
    ("other/", "get"): _NOBODY,
    ("other/", "put"): _NOBODY,
    ("other/", "delete"): _NOBODY,
}

LIST_THE_BUCKET: Final = {"Ingest"}
"""S3 says of an object that it is missing only to who may list everything. The eraser lists what belongs to organisations."""

SENDERS: Final = {
    "ingest": {"Webhooks"},
    "billing": _NOBODY,
    "offboarding": _NOBODY,
    "reprocessing": {"Api", "Reprocessor"},
    "erasure": {"Api", "Ingest", "Organizations", "Eraser"},
    "ingestDlq": _NOBODY,
    "billingDlq": _NOBODY,
    "offboardingDlq": _NOBODY,
    "reprocessingDlq": _NOBODY,
    "erasureDlq": _NOBODY,
    "undeliveredDlq": _NOBODY,
    "projectorDlq": {"Projector"},
    "publisherDlq": {"Publisher"},
}
"""Who sends to which queue. Those of nobody are filled by AWS: by the bus, or by the queue before them."""

CONSUMERS: Final = {
    "ingest": {"Ingest"},
    "billing": {"Organizations"},
    "offboarding": {"Organizations"},
    "reprocessing": {"Reprocessor"},
    "erasure": {"Eraser"},
    "ingestDlq": {"Eraser"},
    "billingDlq": {"Eraser"},
    "offboardingDlq": {"Eraser"},
    "reprocessingDlq": {"Eraser"},
    "erasureDlq": _NOBODY,
    "undeliveredDlq": {"Eraser"},
    "projectorDlq": {"Eraser"},
    "publisherDlq": {"Eraser"},
}
"""Who takes messages off which queue. An operator alone looks into the dead letters of erasures."""

SECRETS: Final = {
    "cursor": {"Api"},
    "identity": {"Api", "Ingest", "Eraser"},
    "webhook": {"Webhooks"},
    "other": _NOBODY,
}
PUBLISHERS: Final = {"Ingest", "Publisher", "Eraser"}
CLIENT_ORGANIZATIONS: Final = {"Tokens"}
"""Who reads which organisation a client is bound to."""
