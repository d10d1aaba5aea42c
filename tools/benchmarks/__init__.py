"""What the service costs, measured against a reference in the same run. `make bench`; see the design's bars."""
