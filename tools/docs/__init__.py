"""Writes the generated documentation, and tells when it no longer says what the code says."""
