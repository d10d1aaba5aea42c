"""What Stripe's events mean: the table from their names to ours.

One sale, one ``purchase_completed``, though session, payment intent, charge and invoice all tell of it, in any order:

* A payment of an invoice is told by the invoice. Its payment intent says whose it is: ``invoice``, since 2025
  ``payment_details.order_reference``, or the description that Stripe writes itself. So is a session of mode ``subscription``.
* Other Checkout sessions tell of their own payment; since 2025 their payment intent names the session. Before, it cannot be
  told from a payment without Checkout. So both are the same *fact*, named by the payment intent: the first is the event.
* A one-time session may have an invoice made for it. Before basil that names its payment intent; since then only the
  session knows both, so there the fact is named by the invoice.
* Charges never count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from lead_events.errors import InvalidError
from lead_events.instants import from_unix_seconds
from lead_events.providers._money import from_minor_units
from lead_events.providers._reading import at, items, known, reference, text
from lead_events.strict_json import Json

# docs.stripe.com/currencies. Not ISO 4217's digits: Stripe sends ISK and UGX in hundredths.
_ZERO_DECIMAL: Final = frozenset("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split())
_THREE_DECIMAL: Final = frozenset("BHD JOD KWD OMR TND".split())

_BASIL: Final = "2025-03-31"
_SETTLED: Final = ("paid", "no_payment_required")
_OF_INVOICES: Final = ("Subscription creation", "Subscription update", "Payment for Invoice")
"""Descriptions that Stripe gives the payment intents of its own invoices."""
_LARGEST_AMOUNT: Final = 10**15


@dataclass(frozen=True, slots=True)
class Notice:
    """A Stripe event, read; ``object`` is its ``data.object``, ``previous`` what an update changed."""

    type: str
    time: datetime
    object: Json
    previous: Json
    api_version: Json

    @property
    def basil(self) -> bool:
        """Whether it has the shapes of API version 2025-03-31 and later."""
        version = self.api_version
        return isinstance(version, str) and re.match(r"\d{4}-\d\d-\d\d", version) is not None and version >= _BASIL


@dataclass(frozen=True, slots=True)
class Fact:
    """One normalised event. ``fact_id`` names what happened, where other Stripe events may tell of the same."""

    event_type: str
    payload: Json
    fact_id: str | None = None
    part: str = ""
    """Tells a second event of one notice from the first."""
    time: datetime | None = None
    """When it happened, where that is known better than when it was told."""


def as_told(notice: Notice) -> Fact:
    """The event under Stripe's own name: ids, money and states, no personal data."""
    told = notice.object
    charge = _id_at(told, "charge") or _id_at(told, "latest_charge")
    payload = known(
        objectType=text(told, "object") or text(told, "type"),
        objectId=reference(told, "id"),
        status=_word(told, "status"),
        paymentStatus=_word(told, "payment_status"),
        mode=_word(told, "mode"),
        reason=_word(told, "reason") or _word(told, "cancellation_details", "reason"),
        billingReason=_word(told, "billing_reason"),
        **_references(told),
        chargeId=charge,
        refunded=_flag(told, "refunded"),
        cancelAtPeriodEnd=_flag(told, "cancel_at_period_end"),
        errorCode=_word(told, "last_payment_error", "code"),
        declineCode=_word(told, "last_payment_error", "decline_code"),
        stageAbandoned="payment" if notice.type in _FAILED_PAYMENTS else None,
    )
    payload |= _plan(told) if at(told, "object") == "subscription" else _amounts(told)
    return Fact(f"stripe.{notice.type}", payload, _once(notice) if notice.type in _TOLD_ONCE else None)


def _session_paid(notice: Notice) -> list[Fact]:
    """``checkout.session.completed`` and ``.async_payment_succeeded``; the first also comes before a slow payment."""
    session = notice.object
    if at(session, "mode") != "payment" or at(session, "payment_status") not in _SETTLED:
        return []
    sale = _sale(notice, _id_at(session, "payment_intent"), _id_at(session, "invoice"))
    discount = at(session, "total_details", "amount_discount")
    lines = items(session, "line_items", "data")  # only where somebody expanded them
    own = {"checkoutSessionId": reference(session, "id")}
    return _purchase(notice, sale, "amount_total", lines, own) + _discount(
        notice, sale, discount, at(session, "amount_subtotal"), lines
    )


def _session_expired(notice: Notice) -> list[Fact]:
    session = notice.object
    if at(session, "mode") not in ("payment", "subscription"):
        return []
    lines = items(session, "line_items", "data")
    payload = known(
        productIds=_product_ids(session, lines),
        cartValue=_money(session, "amount_total"),
        currency=_currency(session),
        stageAbandoned="checkout",
        checkoutSessionId=reference(session, "id"),
        recoveryUrl=text(session, "after_expiration", "recovery", "url"),
        recoveredFrom=reference(session, "recovered_from"),
    )
    return [Fact("purchase_abandoned", payload, _once(notice))]


def _payment_succeeded(notice: Notice) -> list[Fact]:
    intent = notice.object
    received = at(intent, "amount_received")
    if at(intent, "status") != "succeeded" or not received or _is_told_by_another(intent):
        return []
    own = {"paymentIntentId": reference(intent, "id")}
    return _purchase(notice, _sale(notice, reference(intent, "id"), None), "amount_received", [], own)


def _is_told_by_another(intent: Json) -> bool:
    """Whether an invoice or a Checkout session tells of this payment."""
    named = text(intent, "payment_details", "order_reference") or ""
    return (
        _id_at(intent, "invoice") is not None
        or named.startswith(("in_", "cs_"))
        or (isinstance(intent, dict) and "invoice" not in intent and at(intent, "description") in _OF_INVOICES)
    )


def _invoice_paid(notice: Notice) -> list[Fact]:
    """``invoice.paid``, and ``invoice.payment_succeeded``, which says the same again."""
    invoice = notice.object
    payments = {_id_at(each, "payment", "payment_intent") for each in items(invoice, "payments", "data")} - {None}
    intent = _id_at(invoice, "payment_intent") or (payments.pop() if len(payments) == 1 else None)
    sale = _sale(notice, intent, reference(invoice, "id"))
    discounts = [at(each, "amount") for each in items(invoice, "total_discount_amounts")]
    discount = sum(each for each in discounts if isinstance(each, int))
    lines = items(invoice, "lines", "data")
    own = {"invoiceId": reference(invoice, "id"), "paymentIntentId": intent}
    return _purchase(notice, sale, "amount_paid", lines, own, _paid_at(invoice)) + _discount(
        notice, sale, discount, at(invoice, "subtotal"), lines
    )


def _subscription_created(notice: Notice) -> list[Fact]:
    """A subscription whose first payment is open has status ``incomplete``: it is created when that ends."""
    if at(notice.object, "status") in (None, "incomplete", "incomplete_expired"):
        return []
    payload = known(**_plan(notice.object), status=_word(notice.object, "status"), **_references(notice.object))
    return [Fact("subscription_created", payload, _once(notice, "customer.subscription.created"))]


def _subscription_updated(notice: Notice) -> list[Fact]:
    """The first payment came through; every other change, a cancellation at the period's end too, is told as it is."""
    began = at(notice.previous, "status") == "incomplete" and at(notice.object, "status") in ("active", "trialing")
    return _subscription_created(notice) if began else []


def _subscription_deleted(notice: Notice) -> list[Fact]:
    details = at(notice.object, "cancellation_details")
    plan = _plan(notice.object)
    payload = known(
        planId=plan.get("planId"),
        planName=plan.get("planName"),
        reason=_word(details, "reason"),
        feedback=_word(details, "feedback"),
        comment=text(details, "comment"),
        **_references(notice.object),
    )
    return [Fact("subscription_cancelled", payload, _once(notice))]


TRANSLATIONS: Final[dict[str, Callable[[Notice], list[Fact]]]] = {
    "checkout.session.completed": _session_paid,
    "checkout.session.async_payment_succeeded": _session_paid,
    "checkout.session.expired": _session_expired,
    "payment_intent.succeeded": _payment_succeeded,
    "invoice.paid": _invoice_paid,
    "invoice.payment_succeeded": _invoice_paid,
    "customer.subscription.created": _subscription_created,
    "customer.subscription.updated": _subscription_updated,
    "customer.subscription.deleted": _subscription_deleted,
}
"""Stripe's events that have a type of ours. Nothing comes back where the object says otherwise: it is told as it is."""

_FAILED_PAYMENTS: Final = frozenset({"checkout.session.async_payment_failed", "payment_intent.payment_failed"})

# Happen once to an object, though Stripe may make two events of it. Others (updates, refunds of a charge) come again.
_TOLD_ONCE: Final = frozenset({"refund.created", "charge.dispute.created", "checkout.session.async_payment_failed"})


def _once(notice: Notice, kind: str | None = None) -> str | None:
    own = reference(notice.object, "id")
    return own and f"{kind or notice.type}:{own}"


def _sale(notice: Notice, payment_intent: str | None, invoice: str | None) -> str | None:
    """The name that all who tell of one sale know it by; see the top of this page."""
    names = (invoice, payment_intent) if notice.basil else (payment_intent, invoice)
    return names[0] or names[1] or reference(notice.object, "id")


def _purchase(
    notice: Notice,
    sale: str | None,
    amount: str,
    lines: list[Json],
    own: Mapping[str, Json],
    time: datetime | None = None,
) -> list[Fact]:
    methods = _payment_methods(notice.object)
    payload = known(
        **_product(notice.object, lines),
        amount=_money(notice.object, amount),
        currency=_currency(notice.object),
        paymentMethod=methods[0] if len(methods) == 1 else None,
        paymentMethodTypes=list(methods) if len(methods) > 1 else None,
        billingReason=_word(notice.object, "billing_reason"),
        **(_references(notice.object) | known(**own)),
    )
    return [Fact("purchase_completed", payload, sale, time=time)]


def _discount(notice: Notice, sale: str | None, discount: Json, subtotal: Json, lines: list[Json]) -> list[Fact]:
    if not _is_amount(discount) or not discount:
        return []
    named = [[each] if isinstance(each, str) else [at(each, "id"), at(each, "coupon"), at(each, "promotion_code")]
             for each in items(notice.object, "discounts")]  # fmt: skip
    payload = known(
        discountPercent=_percent(discount, subtotal),
        productId=_product(notice.object, lines).get("productId"),
        discountAmount=_major_units(discount, _currency(notice.object)),
        currency=_currency(notice.object),
        discountIds=[each for names in named for each in names if isinstance(each, str)],
    )
    return [Fact("discount_accepted", payload, sale and f"{sale}:discount_accepted", part="discount_accepted")]


def _percent(discount: Json, subtotal: Json) -> Decimal | None:
    """The discount in percent, where two decimals hold it exactly."""
    if not isinstance(discount, int) or not isinstance(subtotal, int) or not 0 < discount <= subtotal:
        return None
    hundredths, rest = divmod(discount * 10_000, subtotal)
    return None if rest else from_minor_units(hundredths, 2, "discountPercent")


def _product(told: Json, lines: list[Json]) -> dict[str, Json]:
    """What was sold: as planted in the metadata, else as the only or first line says."""
    planted = at(told, "metadata")
    ids = _product_ids(told, lines)
    return known(
        productId=ids[0] if ids else None,
        productIds=ids if len(ids) > 1 else None,
        productName=text(planted, "productName") or text(planted, "product_name") or text(lines, 0, "description"),
        category=text(planted, "category"),
    )


def _product_ids(told: Json, lines: list[Json]) -> list[Json]:
    planted = at(told, "metadata")
    own = text(planted, "productIds") or text(planted, "productId") or text(planted, "product_id")
    if own:
        return [part.strip() for part in own.split(",") if part.strip()]
    found = [_id_at(each, "pricing", "price_details", "product") or _id_at(each, "price", "product")
             or _id_at(each, "plan", "product") for each in lines]  # fmt: skip
    return list(dict.fromkeys(each for each in found if each))


def _plan(subscription: Json) -> dict[str, Json]:
    """The plan of a subscription's first item; ``amount`` for one period, where the price is not by use or by tiers."""
    plans: list[Json] = [at(each, "price") or at(each, "plan") for each in items(subscription, "items", "data")]
    plan = plans[0] if plans else at(subscription, "plan")
    quantity = at(subscription, "items", "data", 0, "quantity") or 1
    unit = at(plan, "unit_amount") if at(plan, "object") != "plan" else at(plan, "amount")
    metered = "metered" in (at(plan, "recurring", "usage_type"), at(plan, "usage_type"))
    total = unit * quantity if isinstance(unit, int) and isinstance(quantity, int) and not metered else None
    return known(
        planId=_id_at(plan),
        planIds=[each for each in map(_id_at, plans) if each] if len(plans) > 1 else None,
        planName=text(plan, "nickname"),
        amount=_major_units(total, _currency(plan)),
        currency=_currency(plan),
        productId=_id_at(plan, "product"),
        interval=_word(plan, "recurring", "interval") or _word(plan, "interval"),
    )


def _payment_methods(told: Json) -> list[str]:
    """The method that was used where one is known; else those that were allowed."""
    used = text(told, "charges", "data", 0, "payment_method_details", "type")  # payment intents before 2022-11-15
    used = used or text(told, "latest_charge", "payment_method_details", "type")
    allowed = items(told, "payment_method_types") or items(told, "payment_settings", "payment_method_types")
    return [used] if used else [each for each in allowed if isinstance(each, str) and each]


def _references(told: Json) -> dict[str, Json]:
    """Ids of what an object belongs to, wherever its API version has them."""
    subscription = _id_at(told, "subscription") or _id_at(told, "parent", "subscription_details", "subscription")
    named = reference(told, "payment_details", "order_reference") or ""
    return known(
        subscriptionId=reference(told, "id") if at(told, "object") == "subscription" else subscription,
        paymentIntentId=_id_at(told, "payment_intent"),
        invoiceId=_id_at(told, "invoice") or (named if named.startswith("in_") else None),
        checkoutSessionId=named if named.startswith("cs_") else None,
    )


def _amounts(told: Json) -> dict[str, Json]:
    totals = (_money(told, name) for name in ("amount_total", "amount_paid", "amount"))
    amount = next((each for each in totals if each is not None), None)
    return known(amount=amount, amountRefunded=_money(told, "amount_refunded"), currency=_currency(told))


def _paid_at(invoice: Json) -> datetime | None:
    paid = at(invoice, "status_transitions", "paid_at")
    try:
        return from_unix_seconds(paid, "paid_at") if isinstance(paid, int) else None
    except InvalidError:
        return None


def _money(told: Json, name: str) -> Decimal | None:
    return _major_units(at(told, name), _currency(told))


def _major_units(amount: Json, currency: str | None) -> Decimal | None:
    if not _is_amount(amount) or currency is None:
        return None
    digits = 0 if currency in _ZERO_DECIMAL else 3 if currency in _THREE_DECIMAL else 2
    return from_minor_units(amount, digits, "amount")


def _is_amount(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST_AMOUNT


def _currency(told: Json) -> str | None:
    code = at(told, "currency")
    return code.upper() if isinstance(code, str) and re.fullmatch(r"[A-Za-z]{3}", code, re.ASCII) else None


def _id_at(value: Json, *path: str | int) -> str | None:
    """The id at ``path``, whether it stands alone or in its expanded object."""
    return reference(value, *path) or reference(value, *path, "id")


def _word(value: Json, *path: str | int) -> str | None:
    """A value of one of Stripe's enumerations."""
    word = text(value, *path)
    return word if word and re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", word, re.ASCII) else None


def _flag(value: Json, name: str) -> bool | None:
    flag = at(value, name)
    return flag if isinstance(flag, bool) else None
