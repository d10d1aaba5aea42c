"""Lead Events: an event store for sales leads.

Importing this package does nothing; every module is imported where it is needed.
"""
