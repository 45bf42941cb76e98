"""Code that runs unconverted, and effects that a Program cannot repeat.

What such code asks of symbolic values, draws at random, reads of files and of the environment, or keeps to itself: each is staged, done
before each call, or refused.
"""
