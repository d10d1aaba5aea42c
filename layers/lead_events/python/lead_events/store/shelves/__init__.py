"""What an erasure clears: each shelf finds what one store has of a lead or an organisation, takes it and counts it."""
