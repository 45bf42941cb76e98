"""Python's built-in functions and the methods of its containers on symbolic values: a table from a function to its dual."""
