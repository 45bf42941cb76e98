"""Programs of two things at once, every pair of a table: see `driver`."""
