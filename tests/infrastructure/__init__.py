"""Promises of the templates: what must be true of them, whoever changes the stacks."""
