"""The options that every stack hands on to CDK."""

from __future__ import annotations

from typing import TypedDict

from aws_cdk import IStackSynthesizer


class StackOptions(TypedDict, total=False):
    """Keyword arguments of ``aws_cdk.Stack`` that the app sets."""

    synthesizer: IStackSynthesizer | None
    termination_protection: bool
    description: str
