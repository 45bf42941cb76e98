"""Calls: what `f(x)` means in converted code, by the kind of `f`."""
