"""Queues and buses."""
