"""Python's control flow on symbolic values: `if`, `while`, `for`, `and`, `try`, comprehensions, items and recursion.

`join` computes the phis where paths meet: which leaves are constants and which vary. Loops and recursive functions are traced until
their types are a fixed point.
"""
