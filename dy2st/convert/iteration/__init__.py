"""Iteration protocols: what a staged loop runs over, and iterators whose advance is an effect."""
