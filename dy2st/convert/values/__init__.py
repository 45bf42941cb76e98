"""Symbolic values: what stands for a Python value that depends on data.

Sum types (a value or None, one of several objects), texts with tensors in them, and containers whose length or keys depend on data, lists
as structures of arrays. `join_types` is the lattice of the leaves: what type a value has where paths meet. `path_conditions` are the facts
that a branch implies.
"""
