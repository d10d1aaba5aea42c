"""Where a twin lives: folder, port, credentials. The only reader of the environment in this package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.local.console import TwinError

ROOT: Final = Path(__file__).resolve().parents[2]
REGION: Final = "us-east-1"
ACCOUNT: Final = "000000000000"
STAGE: Final = "local"
DEFAULT_PORT: Final = 4566

ROOT_ACCESS_KEY: Final = "test"
"""MiniStack takes this key pair for the account's root, under ``AUTH=true`` too: it may do everything."""
ROOT_SECRET_KEY: Final = "test"

NO_PROXY_HERE: Final = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
"""A proxy, where there is one, is for the world outside."""


@dataclass(frozen=True, slots=True)
class Twin:
    """One twin. Two of them live side by side when folder and port differ."""

    folder: Path
    """Description, logs, process and outputs of this twin; may be removed while it is down."""
    port: int
    """The port of MiniStack on 127.0.0.1."""

    @property
    def endpoint(self) -> str:
        """The URL that takes the place of every AWS service. The IP address makes SDKs address buckets by path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def stack_file(self) -> Path:
        """The description that clients of the twin read."""
        return self.folder / "stack.json"

    @property
    def outputs_file(self) -> Path:
        """The outputs of the stacks, as ``cdk deploy --outputs-file`` writes them."""
        return self.folder / "outputs.json"

    @property
    def log(self) -> Path:
        """MiniStack's log, the Lambdas' log lines included."""
        return self.folder / "ministack.log"

    @property
    def deploy_log(self) -> Path:
        """What the CDK CLI said last."""
        return self.folder / "deploy.log"


def twin_from(environment: Mapping[str, str] | None = None) -> Twin:
    """Reads ``LEAD_EVENTS_LOCAL_DIR`` (default ``.local``) and ``LEAD_EVENTS_LOCAL_PORT`` (default 4566).

    Raises:
        TwinError: the port is not a number of a port.
    """
    env = os.environ if environment is None else environment
    folder = (ROOT / env.get("LEAD_EVENTS_LOCAL_DIR", ".local")).resolve()
    port = env.get("LEAD_EVENTS_LOCAL_PORT") or str(DEFAULT_PORT)
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise TwinError(f"LEAD_EVENTS_LOCAL_PORT (make up PORT=…) is not a port: {port}")
    return Twin(folder=folder, port=int(port))


def forget_aws() -> None:
    """Removes the caller's AWS settings from this process: no profile, region or credential of theirs is used here."""
    for name in [each for each in os.environ if each.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(NO_PROXY_HERE)


def clean_environment(**extra: str) -> dict[str, str]:
    """The environment of MiniStack and the CDK CLI: the little of the caller's that they need, and ``extra``.

    The Lambdas inherit MiniStack's, so nothing that configures AWS, Python or Powertools may come from the caller.
    """
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
    prefixes = ("PIP_", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    env = {k: v for k, v in os.environ.items() if k in kept or k.startswith(prefixes)}
    return env | NO_PROXY_HERE | extra


def root_credentials(twin: Twin) -> dict[str, str]:
    """Environment variables with which any AWS tool talks to this twin as the account's root."""
    return {
        "AWS_ENDPOINT_URL": twin.endpoint,
        "AWS_ACCESS_KEY_ID": ROOT_ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": ROOT_SECRET_KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        # No profile of the developer's, whose region or role would win over the above.
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
