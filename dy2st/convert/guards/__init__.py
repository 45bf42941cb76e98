"""Guards: every place outside of a function that its trace depends on.

`reach` walks from a function through all that its code can read (free variables, globals, attributes, items); each place that it finds is
compared at the next call. `activations` tells calls of one function apart.
"""
