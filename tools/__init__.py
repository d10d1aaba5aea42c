"""Tools of developers and operators; nothing here is deployed."""
