"""The folders whose content is deployed: one per function and one per layer. Nothing is built here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aws_cdk import aws_lambda as lambda_

from stacks.settings import Settings

ROOT: Final = Path(__file__).resolve().parents[2]
_LEFT_BY_TOOLS: Final = ["**/.*_cache", "**/.*_cache/**", ".inputs.sha256"]
_BYTE_CODE: Final = ["**/__pycache__", "**/__pycache__/**", "**/*.pyc"]
"""Of whatever interpreter ran here last. The third-party layer has none but what its build put there on purpose."""


@dataclass(frozen=True, kw_only=True)
class Assets:
    """Where the code is found."""

    functions: Path
    library_layer: Path
    dependencies_layer: Path

    @classmethod
    def of_repository(cls, settings: Settings) -> Assets:
        """The folders of this repository; the third-party layer is the one built for the platform of the stage."""
        return cls(
            functions=ROOT / "functions",
            library_layer=ROOT / "layers" / "lead_events",
            dependencies_layer=ROOT
            / "layers"
            / "dependencies"
            / "build"
            / ("local" if settings.is_local else "lambda"),
        )

    def function_code(self, name: str) -> lambda_.Code:
        """Code of a function: its folder alone."""
        return _code(self.functions / name)

    def library_code(self) -> lambda_.Code:
        """Code of the layer that holds ``lead_events``."""
        return _code(self.library_layer)

    def dependencies_code(self) -> lambda_.Code:
        """Code of the layer with the third-party wheels. Raises FileNotFoundError if it was not built."""
        if not self.dependencies_layer.is_dir():
            raise FileNotFoundError(
                f"{self.dependencies_layer} is missing: run `python tools/layers/build.py` (`cdk` does so itself)"
            )
        return lambda_.Code.from_asset(str(self.dependencies_layer), exclude=_LEFT_BY_TOOLS)


def _code(folder: Path) -> lambda_.Code:
    return lambda_.Code.from_asset(str(folder), exclude=_LEFT_BY_TOOLS + _BYTE_CODE)
