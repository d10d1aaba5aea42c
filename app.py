#!/usr/bin/env python3
"""The CDK app: three stacks from typed settings. See ``stacks/settings.py`` for the context that it reads."""

from __future__ import annotations

from aws_cdk import App

from stacks.build import build_app
from stacks.settings import SettingsError, read_settings


def main() -> None:
    """Synthesise the stacks of the stage that the context names. A context that cannot be used ends it in one line."""
    app = App()
    try:
        settings = read_settings(app.node.try_get_context)
    except SettingsError as error:
        raise SystemExit(str(error)) from None
    build_app(app, settings=settings)
    app.synth()


if __name__ == "__main__":
    main()
