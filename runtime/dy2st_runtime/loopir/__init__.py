"""The loop IR: what a kernel does, free of any target. `nodes` are the nodes, `builder` makes them, `printer` shows them."""
