"""Random programs of many operations: `python -m tests.fuzz_ops` runs them."""
