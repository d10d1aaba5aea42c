"""The constructs of the stacks: one file per concern, none runs pip or calls AWS."""
