"""Another tensor in the place of one of which a trace has read more than its value: its attributes, its name, its class."""

import numpy as np
import pytest
from guarding import Box, check, putting, tensor

from dy2st import Parameter, Tensor, jit, nn
from dy2st.errors import StructureError


def marked(*values, **attributes):
    t = tensor(*values)
    vars(t).update(attributes)
    return t


@pytest.mark.parametrize(
    "f",
    [
        lambda x, it: x * it.t * (2 if hasattr(it.t, "tag") else 1),
        lambda x, it: x * (2 if hasattr(it.t, "tag") else 1),
        lambda x, it: x * it.t * getattr(it.t, "rate", 1.0),
        lambda x, it: x * getattr(it.t, "rate", 1.0) + len(getattr(it.t, "tag", "")),
    ],
)
def test_attributes_that_another_tensor_has_or_has_not(f):
    it = Box(t=tensor(1.0, 2.0))
    changes = [marked(1.0, 2.0, tag="new"), tensor(1.0, 2.0), marked(3.0, 2.0, rate=3.0), marked(1.0, 2.0, rate=5.0)]
    changes += [marked(1.0, 2.0, tag="a", rate=2.0), marked(1.0, 1.0, tag="b")]
    check(jit.to_static(lambda x: f(x, it)), lambda x: f(x, it), *(putting(it, t=t) for t in changes))


def test_parameters_that_are_left_out_by_an_attribute():
    def decayed(x, layer):
        return x * sum((p * p).sum() for p in layer.parameters() if not getattr(p, "no_decay", False))

    fc = nn.Linear(2, 2)
    fc.weight.no_decay = True
    static = jit.to_static(lambda x: decayed(x, fc))
    check(
        static, lambda x: decayed(x, fc),
        putting(fc, weight=Parameter(np.ones((2, 2), np.float32))),
        putting(fc.bias, no_decay=True),
    )  # fmt: skip


def test_a_count_that_another_tensor_has():
    def make():
        it = Box(t=marked(1.0, 2.0, n=1))

        def f(x):
            it.t.n += 1
            return x * it.t.n

        return f, it

    (f, a), (g, b) = make(), make()
    static = jit.to_static(g)
    for t in (None, None, (1.0, 1.0), None):
        if t is not None:
            a.t, b.t = marked(*t, n=5), marked(*t, n=5)
        assert static(tensor(1.0)).numpy() == f(tensor(1.0)).numpy()
        assert a.t.n == b.t.n


name = "name"


@pytest.mark.parametrize("f", [lambda x, p: p if p.name.endswith("w") else x, lambda x, p: p if getattr(p, name)[-1] == "w" else x])
def test_the_name_of_another_tensor(f):
    it = Box(t=Parameter(np.ones(2, np.float32), name="a.w"))
    check(
        jit.to_static(lambda x: f(x, it.t)), lambda x: f(x, it.t),
        putting(it, t=Parameter(np.ones(2, np.float32), name="a.b")),
        lambda: putting(it.t, name="b.w")(),
        traces=3,
    )  # fmt: skip


def test_other_names_do_not_count_where_none_is_read():
    it = Box(t=Parameter(np.ones(2, np.float32), name="a.w"))
    static = jit.to_static(lambda x: x * it.t)
    check(static, lambda x: x * it.t, putting(it, t=Parameter(np.zeros(2, np.float32), name="a.b")), traces=1)


def test_a_tensor_of_another_class():
    class Doubled(Tensor):
        def weight(self):
            return self * 2

    class Once(Tensor):
        def weight(self):
            return self * 1

    it = Box(t=Once(np.ones(2, np.float32)))
    static = jit.to_static(lambda x: x * it.t.weight())
    check(static, lambda x: x * it.t.weight(), putting(it, t=Doubled(np.ones(2, np.float32))))


@pytest.mark.parametrize(
    "f",
    [
        lambda p: p * 2 if isinstance(p, Parameter) else p,
        lambda p: p * 2 if isinstance(p, (int, Parameter)) else p,
        lambda p: p * 2 if type(p) is Tensor else p,
        lambda p: p * 2 if p.__class__ is Tensor else p,
    ],
)
def test_the_class_of_an_argument(f):
    static = jit.to_static(f)
    assert static(tensor(1.0)).numpy() == f(tensor(1.0)).numpy()
    with pytest.raises(StructureError, match=r"'p' is a Parameter, and .* asks for its class"):
        static(Parameter(np.ones(1, np.float32), trainable=False))


def test_that_an_argument_is_a_tensor():
    static = jit.to_static(lambda p: p * 2 if isinstance(p, Tensor) else p)
    assert static(Parameter(np.ones(1, np.float32))).numpy() == 2
