"""May-alias and points-to analysis of containers and objects, and the escape check at the end of a call.

A list, dict or object that is one of several on different paths, or that is in a list of dynamic length, has abstract objects in place of
one; what would have to be one object in some runs only is refused.
"""
