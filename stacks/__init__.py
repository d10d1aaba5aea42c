"""The CDK stacks of Lead Events. ``lead_events.names`` is the only module of the library that they import."""
