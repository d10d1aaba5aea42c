"""Objects of the raw bucket. No transaction reaches them: what goes is counted right after it went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from lead_events.aws_errors import translated
from lead_events.erasure import Erasure, Store
from lead_events.errors import ObjectMissingError, UnavailableError
from lead_events.names import INBOX_PREFIX, ORGANIZATIONS_PREFIX
from lead_events.ports import ErasureStore
from lead_events.store.s3 import S3Objects
from lead_events.store.shelves.tables import AGAIN, lead_of

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_AT_ONCE: Final = 1_000
"""Most objects that S3 lists, and deletes, in one call."""


class RawObjects(S3Objects):
    """The raw bucket for whoever erases in it."""

    def __init__(self, client: S3Client, bucket_name: str, erasures: ErasureStore) -> None:
        super().__init__(lambda: client, bucket_name)
        self._erasures = erasures

    def get(self, key: str) -> str:
        # Listed first: of an object that is missing S3 tells only those who may list the whole bucket.
        if key not in self.keys(key):
            raise ObjectMissingError("There is no such object.")
        return super().get(key)

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """Keys that begin with ``prefix`` and follow ``after``: all, or the first thousand."""
        request: Any = {"StartAfter": after} if after else {}
        with translated("S3"):
            answer = self._client().list_objects_v2(Bucket=self._bucket, Prefix=prefix, MaxKeys=_AT_ONCE, **request)
        return [each["Key"] for each in answer.get("Contents", [])]

    def remove(self, erasure: Erasure, keys: Sequence[str]) -> None:
        """Delete at most a thousand objects, and count those that are gone."""
        with translated("S3"):
            answer = self._client().delete_objects(
                Bucket=self._bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
            )
        errors: list[Any] = answer.get("Errors", [])
        if len(errors) < len(keys):
            self._erasures.count(erasure, Store.OBJECTS, len(keys) - len(errors))
        if errors:
            raise UnavailableError(f"S3 did not delete everything ({errors[0].get('Code', 'an error')}).")

    def remove_body(self, key: str) -> None:
        """Delete an object that nobody needs any more, of nobody's erasure."""
        with translated("S3"):
            self._client().delete_object(Bucket=self._bucket, Key=key)


class Objects:
    """What the raw bucket has of a lead; of an organisation its inbox as well."""

    def __init__(self, objects: RawObjects) -> None:
        self._objects = objects

    def clear(self, erasure: Erasure, position: str | None) -> str | None:  # noqa: ARG002  # what is left is at the beginning
        for prefix in _prefixes(erasure):
            if keys := self._objects.keys(prefix):
                self._objects.remove(erasure, keys)
                return AGAIN
        return None


def _prefixes(erasure: Erasure) -> Sequence[str]:
    own = f"{ORGANIZATIONS_PREFIX}{erasure.organization_id}/"
    if (lead_id := lead_of(erasure)) is not None:
        return [f"{own}leads/{lead_id}/"]
    return [own, f"{INBOX_PREFIX}{erasure.organization_id}/"]
