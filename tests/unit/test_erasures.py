"""Erasures as they are asked for and watched."""

from __future__ import annotations

import pytest

from lead_events.erasure import Erasure, lead_hash_of
from lead_events.errors import NotFoundError, UnavailableError, UnreadableError
from tests.support.builders import LEAD, ORGANIZATION, OTHER_ORGANIZATION
from tests.support.clock import START
from tests.support.erasing import Workshop
from tests.support.organization_events import Desk, told

EXPIRED = "offboarding.retention-expired"


def test_a_receipt_tells_who_asked_what_and_how_far_it_has_come() -> None:
    shop = Workshop()
    receipt = shop.receipt(shop.erase())
    assert (receipt["scope"], receipt["leadId"], receipt["status"]) == ("lead", LEAD, "running")
    assert receipt["requestedBy"] == "operations"
    assert (receipt["erasedUntil"], receipt["completedAt"]) == (None, None)
    assert set(receipt["counts"].values()) == {0}
    [done] = shop.run()
    receipt = shop.receipt(done.erasure_id)
    assert receipt["erasedUntil"] <= receipt["completedAt"]


def test_asked_twice_there_is_one_erasure_and_its_message_is_sent_again() -> None:
    shop = Workshop()
    assert shop.erase() == shop.erase()
    assert len(shop.queue.sent) == 2


def test_of_an_organisation_there_ever_is_one_erasure() -> None:
    shop = Workshop()
    erasure_id = shop.erase(None)
    shop.run()
    assert shop.erase(None) == erasure_id
    assert shop.run() == []


def test_receipts_are_found_by_the_leads_id_though_none_names_it() -> None:
    shop = Workshop()
    mine = []
    for lead in ("lead_a", "lead_b", "lead_a"):
        mine.append(shop.erase(lead))
        shop.run()
    found = shop.api.page(ORGANIZATION, {"leadId": "lead_a"})["items"]
    assert [each["erasureId"] for each in found] == [mine[2], mine[0]]
    assert {each["leadId"] for each in found} == {None}


def test_pages_of_receipts_follow_each_other_newest_first() -> None:
    shop = Workshop()
    ids = [shop.erase(f"lead_{number}") for number in range(5)]
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = shop.api.page(ORGANIZATION, {"limit": "2"} | ({"cursor": cursor} if cursor else {}))
        seen += [each["erasureId"] for each in page["items"]]
        cursor = page["cursor"]
    assert seen == ids[::-1]
    assert shop.api.page(OTHER_ORGANIZATION, {})["items"] == []


def test_a_cursor_of_one_lead_or_organisation_opens_no_other() -> None:
    shop = Workshop()
    for number in range(3):
        shop.erase(f"lead_{number}")
    cursor = shop.api.page(ORGANIZATION, {"limit": "1"})["cursor"]
    for parameters, organization in (({"leadId": LEAD}, ORGANIZATION), ({}, OTHER_ORGANIZATION)):
        with pytest.raises(UnreadableError):
            shop.api.page(organization, parameters | {"cursor": cursor})


@pytest.mark.parametrize(
    "erasure_id", ["", "era_1", "rep_0195f3a2-8c00-7d4e-b800-000000000000", "lead#x", "organization"]
)
def test_what_is_no_erasure_of_the_organisation_is_missing(erasure_id: str) -> None:
    shop = Workshop()
    mine = shop.erase()
    with pytest.raises(NotFoundError):
        shop.api.one(ORGANIZATION, erasure_id)
    with pytest.raises(NotFoundError):
        shop.api.one(OTHER_ORGANIZATION, mine)


def test_a_filter_that_can_be_no_lead_is_refused() -> None:
    with pytest.raises(UnreadableError) as refused:
        Workshop().api.page(ORGANIZATION, {"leadId": "a#b"})
    assert refused.value.code == "invalid_parameter"


def test_an_erasure_whose_message_could_not_be_sent_is_taken_up_by_the_next_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shop = Workshop()

    def fail(message: str, delay_seconds: int = 0) -> None:
        raise UnavailableError("SQS did not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(shop.queue, "send", fail)
        with pytest.raises(UnavailableError):
            shop.erase()
    shop.erase()
    assert shop.run()


def test_the_end_of_an_organisations_retention_starts_its_erasure_also_when_the_event_comes_again() -> None:
    desk = Desk()
    desk.take(told(EXPIRED, 1))
    assert desk.organizations.get(ORGANIZATION).fence.closed
    [first] = desk.erasure_queue.sent
    desk.erasure_queue.sent.clear()  # whoever took the event died before it was sent
    desk.take(told(EXPIRED, 1))
    assert desk.erasure_queue.sent == [first]
    [erasure] = desk.erasures.page(ORGANIZATION, None, 10).erasures
    assert (erasure.requested_by, erasure.lead_hash) == (EXPIRED, None)


def test_other_ends_of_an_organisation_erase_nothing() -> None:
    desk = Desk()
    kinds = ["requested", "reverted", "confirmed"]
    desk.take(*(told(f"offboarding.cancellation-{each}", number) for number, each in enumerate(kinds)))
    assert desk.erasure_queue.sent == []


def test_what_billing_tells_of_an_erased_lead_adds_to_sums_and_names_nobody() -> None:
    desk = Desk()
    land_events = [
        told("billing.subscription-created", 1, subscriptionId="s", leadId=LEAD),
        told("billing.invoice-paid", 2, invoiceId="i", leadId=LEAD),
        told("billing.fee-created", 3, amount=5, currency="BRL", leadId=LEAD),
    ]
    desk.erasures.start(
        Erasure(
            organization_id=ORGANIZATION,
            erasure_id="era_1",
            lead_id=LEAD,
            lead_hash=lead_hash_of(ORGANIZATION, LEAD),
            requested_at=START,
            requested_by="operations",
        )
    )
    desk.take(*land_events)
    assert LEAD not in str(desk.organization().state)
    assert desk.shown()["invoices"]["paidEvents"] == 1
    assert desk.shown()["fees"] != []
    assert desk.events.all() == []
