"""The Tracer, and what the traced code may raise.

The Tracer owns the analyses of the packages below. Exceptions that depend on data are values of the Program; `active_tries` traces the
rest of a `try` body as the continuation of what may throw.
"""
