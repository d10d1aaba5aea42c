"""The usual handlers, one module each, and their store: complete and working, with nothing done to make them slow."""
