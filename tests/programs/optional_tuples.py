"""Tuples that are None on some path: the state of a recurrent cell before its first step."""

import collections

import dy2st as paddle

State = collections.namedtuple("State", "h c")


def in_a_loop(x):
    st = None
    for v in x:
        st = (v, v * 2) if st is None else (st[0] + v, st[1] * v)
    return st


def unpacked_in_a_loop(x):
    st = None
    for v in x:
        if st is None:
            h, c = v * 0 + 1, v * 0
        else:
            h, c = st
        h = h * v + c
        st = (h, c + 1)
    if st is None:
        return x.sum()
    return st[0] + st[1]


def named(x):
    st = None
    for v in x:
        if st is None:
            st = State(v, v * 2)
        else:
            st = State(st.h + v, st.c * v)
    return st.h * st.c, st


def on_one_path(x):
    p = None
    if x.sum() > 0:
        p = (x, x * 2)
    if p is not None:
        return p[0] + p[1]
    return x


def asked_where_it_is_known(x):
    # as a layer does with what a hook before it gives
    inputs, changed = (x,), (x * 2,) if x.sum() > 0 else None
    if changed is not None:
        inputs = changed if isinstance(changed, tuple) else (changed,)
    return inputs[0]


def truth(x):
    p = (x, x * 2) if x.sum() > 0 else None
    return p[0] if p else x * 5


def default(x):
    p = (x, x * 2) if x.sum() > 0 else None
    a, b = p or (x * 7, x)
    return a + b


def unpacked_without_one(x):
    p = (x, x * 2) if x.sum() > 0 else None
    a, b = p
    return a * b


def subscripted_without_one(x):
    p = (x, x * 2) if x.sum() > 0 else None
    return p[1]


def field_without_one(x):
    p = State(x, x * 2) if x.sum() > 0 else None
    return p.h


def result(x):
    return (x, x * 2) if x.sum() > 0 else None


def nested(x):
    st = None
    for v in x:
        st = ((v, v + 1), [v]) if st is None else ((st[0][0] + v, st[0][1]), [st[1][0] * v])
    return st


def other_sizes(x):
    st = None
    k = 0
    while x.sum() + k < 4 and k < 6:
        st = (x, x[:1]) if st is None else (st[0] * 2, x)
        k += 1
    return x.sum() if st is None else st[0].sum() + st[1].sum()


def kind(x):
    p = (x, x * 2) if x.sum() > 0 else None
    return x if isinstance(p, tuple) else -x


def cell(v, state=None):
    if state is None:
        state = (v * 0, v * 0 + 1)
    h, c = state
    c = c * v.tanh() + h
    return c * 2, (c.tanh(), c)


def recurrent_cell(x):
    state = None
    outs = []
    for v in x:
        y, state = cell(v, state)
        outs.append(y)
    return paddle.stack(outs), state


def compared(x):
    p = (1, 2) if x.sum() > 0 else None
    return x if p == (1, 2) else x * 2


def length(x):
    p = (x, x * 2) if x.sum() > 0 else None
    return x * len(p)


CALLS = [([1.0, 2.0],), ([-3.0, 1.0],), ([0.5, -0.25, 4.0],), ([2.0],)]

CASES = [
    (function, CALLS, 1)
    for function in (
        in_a_loop,
        asked_where_it_is_known,
        unpacked_in_a_loop,
        named,
        on_one_path,
        truth,
        default,
        unpacked_without_one,
        subscripted_without_one,
        field_without_one,
        result,
        nested,
        other_sizes,
        kind,
        recurrent_cell,
        compared,
        length,
    )
]
