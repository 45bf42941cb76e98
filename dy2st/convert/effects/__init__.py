"""Effects of a region: what a branch or a loop body reads and writes.

Cells are the places that it may write, snapshots their contents before and after. `may_alias` tells which tensors may be one object,
`gradient_needs` is the lattice of gradient flow.
"""
