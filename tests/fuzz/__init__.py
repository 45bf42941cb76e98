"""Random programs: `python -m tests.fuzz` runs them."""
