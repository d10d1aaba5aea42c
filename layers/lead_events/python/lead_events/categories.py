"""The memory categories: apart from the catalogue, whose models a reader of memories does not need."""

from __future__ import annotations

from enum import StrEnum


class Category(StrEnum):
    """Memory categories of the seeds."""

    PURCHASE = "purchase"
    PRODUCT = "product"
    INTEREST = "interest"
    SENTIMENT = "sentiment"
    SUPPORT = "support"
    CONVERSATION = "conversation"
    CAMPAIGN = "campaign"
    SUBSCRIPTION = "subscription"
    FORM = "form"
    DISCOUNT = "discount"
    AGENT = "agent"
    OBJECTION = "objection"
