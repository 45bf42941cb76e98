"""The write journal of a trace: which outer objects a region changes, and how its state is taken back or handed on.

Loop-carried cells, the states that branches leave for the join, the leaves of phis, and the promotion of lists to lists of dynamic length.
"""
