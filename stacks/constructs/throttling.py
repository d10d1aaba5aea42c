"""How many requests a second each route takes, of all callers together: what one route gets, no other loses.

A route has the limit of its class, and each route has it for itself. Callers beyond it are answered 429 and send again.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from lead_events.names import Route, Scope


class Limit(NamedTuple):
    """Requests a second in the long run, and how many may come at once."""

    rate: int
    burst: int


APPENDS: Final = Limit(500, 1000)
"""What the platform writes: the load that the service is made for, and a batch of up to a hundred events is one request."""
READS: Final = Limit(300, 600)
"""People and agents look at one lead at a time; the pages of a listing come one after the other."""
ADMIN_READS: Final = Limit(20, 40)
"""A few operators, and scripts that wait for a job or an erasure."""
ADMIN_STARTS: Final = Limit(5, 10)
"""Each of these requests is minutes of work on whole tables: a script that runs wild is stopped early."""
DELIVERIES: Final = Limit(500, 1000)
"""Providers send campaigns in bursts and repeat what is answered 429: as much as the platform itself may write."""
PREFLIGHTS: Final = Limit(250, 500)
"""A browser asks once before several deliveries of the site; the other providers never ask."""
HANDSHAKES: Final = Limit(10, 20)
"""Meta asks once when a webhook is set up."""
OPEN: Final = Limit(20, 40)
"""Anybody may ask without a token, the answers are documents of constant content, and a monitor asks once in a while."""

_WEBHOOKS: Final = {"POST": DELIVERIES, "OPTIONS": PREFLIGHTS, "GET": HANDSHAKES}


def limit_of(route: Route) -> Limit:
    """The limit of a route. Raises KeyError for a method of the webhooks that nobody has judged yet."""
    if route.function == "webhooks":
        return _WEBHOOKS[route.method]
    match route.scope:
        case None:
            return OPEN
        case Scope.READ:
            return READS
        case Scope.WRITE:
            return APPENDS
        case _:
            return ADMIN_READS if route.method == "GET" else ADMIN_STARTS
