"""Facts about Python code and Python objects that need no trace.

What the bytecode of a function reads and assigns (use-def facts, and which attributes are dead on entry), whose code runs unconverted,
what stands on Python's stack, and what an attribute lookup would find.
"""
