"""The page of ``GET /docs``: Swagger UI over ``openapi.json``.

Script and style are those that Powertools brings, put into the page: it asks no other host for anything. (Powertools' own
page template shows a dead link where the document is at an address of its own, so the few lines around them are ours.)
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

ASSETS: Final = "aws_lambda_powertools.event_handler.openapi.swagger_ui"
ASSET_NAMES: Final = ("swagger-ui-bundle.min.js", "swagger-ui.min.css")

_TEMPLATE: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lead Events API</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript; the document itself is <a href="openapi.json">openapi.json</a>.</noscript>
<script>{script}</script>
<script>
SwaggerUIBundle({{
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
}});
</script>
</body>
</html>
"""


@cache
def html() -> str:
    """The whole page, about 1.7 MB: within what a Lambda function may answer. ``openapi.json`` is its neighbour."""
    script, style = (files(ASSETS).joinpath(name).read_text(encoding="utf-8") for name in ASSET_NAMES)
    return _TEMPLATE.format(script=script, style=style)
