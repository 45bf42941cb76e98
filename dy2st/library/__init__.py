"""Classes of Python's library that are written in C, in Python: converted as a user's are, so that branches and loops can hold them."""
