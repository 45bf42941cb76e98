"""Ordinary training loops: a call of a static function, a loss, `backward()`, the step of an optimizer, again and again.

Once the steps of a loop are alike, they run as one Program each. A `Recording` learns the `Script` of a step, a `JoinedStep` compiles it, a
`Deferral` follows it. The field calls this lazy evaluation with a cached trace.
"""
