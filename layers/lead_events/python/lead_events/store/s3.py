"""Objects in S3."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from lead_events.aws_errors import translated
from lead_events.errors import ObjectMissingError, UnavailableError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_MISSING: Final = ("NoSuchKey", "404")
"""Codes of an object that is not there. To whoever may not list the bucket S3 says ``AccessDenied`` instead."""


class S3Objects:
    """Texts in one bucket, as UTF-8."""

    def __init__(self, client: Callable[[], S3Client], bucket_name: str) -> None:
        """``client`` is asked for when it is needed: few deliveries are too large for a message or an item."""
        self._client = client
        self._bucket = bucket_name

    def put(self, key: str, text: str) -> None:
        with translated("S3"):
            self._client().put_object(
                Bucket=self._bucket, Key=key, Body=text.encode(), ContentType="text/plain; charset=utf-8"
            )

    def get(self, key: str) -> str:
        with translated("S3"):
            client = self._client()
            try:
                return client.get_object(Bucket=self._bucket, Key=key)["Body"].read().decode()
            except client.exceptions.ClientError as error:
                if error.response["Error"]["Code"] in _MISSING:
                    raise ObjectMissingError("There is no such object.") from None
                raise


class NoObjects:
    """For those who never ask for a raw payload."""

    def put(self, key: str, text: str) -> None:  # noqa: ARG002  # the port's signature
        raise UnavailableError("There is no place for objects here.")

    def get(self, key: str) -> str:  # noqa: ARG002  # the port's signature
        raise UnavailableError("There are no objects here.")
