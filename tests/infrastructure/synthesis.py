"""Synthesises the stacks of a stage and reads the templates as plain data, which is far quicker than CDK's matchers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aws_cdk import App

from stacks.build import build_app
from stacks.constructs.assets import ROOT, Assets
from stacks.settings import Settings, read_settings

STACKS: Final = ("stateful", "services", "monitoring")

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One resource of a template."""

    logical_id: str
    type: str
    definition: Json

    @property
    def properties(self) -> Json:
        """The properties as CloudFormation gets them."""
        properties: Json = self.definition.get("Properties", {})
        return properties


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """The templates of one stage, by the short names of the stacks, and what the checks reported."""

    stage: str
    templates: dict[str, Json]
    manifest: Json
    report: Json

    def resources(self, kind: str, *, stack: str | None = None) -> list[Resource]:
        """All resources of one type, of one stack or of all."""
        return [
            Resource(logical_id=logical_id, type=kind, definition=definition)
            for name, template in self.templates.items()
            if stack in (None, name)
            for logical_id, definition in template["Resources"].items()
            if definition["Type"] == kind
        ]

    def one(self, kind: str, *, starting: str = "") -> Resource:
        """The only resource of its type whose logical id starts so."""
        found = [resource for resource in self.resources(kind) if resource.logical_id.startswith(starting)]
        assert len(found) == 1, f"{kind} {starting}*: {[resource.logical_id for resource in found]}"
        return found[0]

    def outputs(self) -> set[str]:
        """Names of the outputs that people and tools read, without the exports between stacks."""
        return {
            name
            for template in self.templates.values()
            for name in template.get("Outputs", {})
            if not name.startswith("ExportsOutput")
        }


def synthesise(folder: Path, *, stage: str, **context: object) -> Synthesis:
    """Synthesise one stage into ``folder``, with the feature flags of ``cdk.json`` as the CDK CLI does."""
    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    values = {**flags, "stage": stage, **context}
    # Assets are referenced where they are: copying them would only cost time.
    app = App(outdir=str(folder), context={**values, "aws:cdk:disable-asset-staging": True})
    settings = read_settings(app.node.try_get_context)
    build_app(app, settings=settings, assets=assets_for(settings, folder))
    app.synth()
    prefix = f"lead-events-{stage}"
    return Synthesis(
        stage=stage,
        templates={name: _json(folder / f"{prefix}-{name}.template.json") for name in STACKS},
        manifest=_json(folder / "manifest.json"),
        report=_json(folder / "validation-report.json"),
    )


def assets_for(settings: Settings, folder: Path) -> Assets:
    """The folders of the repository, with a stand-in for the third-party layer where it was not built."""
    assets = Assets.of_repository(settings)
    if assets.dependencies_layer.is_dir():
        return assets
    stand_in = folder / "stand-in-layer"
    stand_in.mkdir(parents=True, exist_ok=True)
    return Assets(functions=assets.functions, library_layer=assets.library_layer, dependencies_layer=stand_in)


def statements(document: Json) -> Iterator[Json]:
    """The statements of a policy document, actions and resources always as lists."""
    for statement in document["Statement"]:
        yield {
            **statement,
            "Action": _list(statement.get("Action", [])),
            "Resource": _list(statement.get("Resource", [])),
        }


def role_statements(role: Resource) -> list[Json]:
    """All that a role allows or denies."""
    return [
        statement
        for policy in role.properties.get("Policies", [])
        for statement in statements(policy["PolicyDocument"])
    ]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _json(path: Path) -> Json:
    content: Json = json.loads(path.read_text())
    return content
