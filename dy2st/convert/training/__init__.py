"""A training step inside a trace: `backward()`, `grad()`, the flags of tensors, and the state that a function makes."""
