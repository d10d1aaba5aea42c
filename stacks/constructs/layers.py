"""The two layers of the functions."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.constructs.assets import Assets
from stacks.constructs.function import ARCHITECTURE, RUNTIME


class Layers(Construct):
    """Third-party wheels of the target platform, and ``lead_events``: two, as the second changes far more often."""

    def __init__(self, scope: Construct, construct_id: str, *, assets: Assets) -> None:
        super().__init__(scope, construct_id)
        self.dependencies = self._layer("Dependencies", assets.dependencies_code(), "Lead Events: third-party packages")
        self.library = self._layer("Library", assets.library_code(), "Lead Events: the library lead_events")

    @property
    def all(self) -> tuple[lambda_.ILayerVersion, ...]:
        """Both layers, in the order in which they are laid over each other."""
        return (self.dependencies, self.library)

    def _layer(self, construct_id: str, code: lambda_.Code, description: str) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            construct_id,
            code=code,
            description=description,
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[ARCHITECTURE],
            removal_policy=RemovalPolicy.DESTROY,
        )
