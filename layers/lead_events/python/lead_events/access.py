"""Who calls: the claims of an access token, its scopes and the organisation it is bound to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lead_events.errors import ForbiddenError, NotFoundError
from lead_events.event import check_id
from lead_events.names import ORGANIZATION_CLAIM, Scope

UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Caller:
    """A verified token: API Gateway's authorizer has checked its signature, issuer and lifetime."""

    scopes: frozenset[str]
    organization_id: str | None
    client_id: str = UNKNOWN
    """Whom the token was given to, for the record of what is done with it."""

    @classmethod
    def of(cls, claims: Mapping[str, Any]) -> Caller:
        """Read the claims (``scope`` is a string of words; API Gateway may render it as ``[a b]``)."""
        words = str(claims.get("scope") or "").strip("[]").replace(",", " ").split()
        organization_id = claims.get(ORGANIZATION_CLAIM)
        client = next((claims[name] for name in ("client_id", "azp", "sub") if claims.get(name)), UNKNOWN)
        return cls(
            frozenset(words),
            organization_id if isinstance(organization_id, str) and organization_id else None,
            str(client)[:128],
        )

    def require(self, scope: Scope) -> None:
        """Raise ``ForbiddenError`` where the token lacks ``scope``."""
        if scope not in self.scopes:
            raise ForbiddenError(f"The token lacks the scope {scope}.", code="insufficient_scope")

    @property
    def bound_organization(self) -> str | None:
        """The only organisation this caller acts for; ``None`` for a platform service, which names one itself.

        Raises ``ForbiddenError`` for a token that is neither.
        """
        if self.organization_id is None and Scope.ALL_ORGANIZATIONS not in self.scopes:
            raise ForbiddenError("The token is not bound to an organization.", code="no_organization")
        return self.organization_id

    def may_write(self, organization_id: str) -> None:
        """Raise ``ForbiddenError`` unless the caller may add to ``organization_id``."""
        if self.bound_organization not in (None, organization_id):
            raise ForbiddenError("The token is bound to another organization.", code="other_organization")

    def may_administer(self, organization_id: str | None) -> None:
        """Raise unless the caller may administer ``organization_id``; ``None`` is all. Foreign is a 404, as in reading."""
        if organization_id is not None:
            self.read_path(organization_id)
        elif self.bound_organization is not None:
            raise ForbiddenError("The token is bound to one organization.", code="other_organization")

    def read_path(self, organization_id: str, lead_id: str | None = None) -> None:
        """Check the ids of a path that is read. Foreign, impossible and missing are all the same 404."""
        from lead_events.errors import InvalidError

        try:
            check_id(organization_id, "organizationId")
            if lead_id is not None:
                check_id(lead_id, "leadId")
        except InvalidError:
            raise NotFoundError from None
        if self.bound_organization not in (None, organization_id):
            raise NotFoundError
