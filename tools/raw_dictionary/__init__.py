"""Builds preset dictionaries under which raw payloads are compressed."""
