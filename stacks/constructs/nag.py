"""Exemptions from cdk-nag's AwsSolutions rules, each with its reason."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct

LOCAL_HTTP: Final = "The local twin speaks plain HTTP on the loopback interface; stages dev and prod require TLS."


def exempt(construct: IConstruct, rule: str, *, because: str) -> None:
    """Exempt ``construct`` from one finding of one rule. cdk-nag has no way to exempt from all findings of a rule."""
    Validations.of(construct).acknowledge(Acknowledgment(id=rule, reason=because))
