"""The order of the keys of dicts outside: a call leaves it as eager code does, and the next one finds it."""

from dy2st_runtime import config

from dy2st import jit, to_tensor

NUMBERS = (-1.0, 2.0, 3.0, -2.0)


def orders(make, convert):
    d = {"a": 1.0, "b": 2.0}
    f, found = convert(make(d)), []
    with config.NO_JIT.override(True):
        for number in NUMBERS:
            result = f(to_tensor([number]))
            found.append((list(d), float(result)))
    return found


def assert_as_eager(make):
    assert orders(make, jit.to_static) == orders(make, lambda f: f)


def test_a_key_that_is_moved():
    def make(d):
        def f(x):
            d["a"] = d.pop("a")
            return x * 1

        return f

    assert_as_eager(make)


def test_a_key_that_is_moved_on_one_path():
    def make(d):
        def f(x):
            if x.sum() > 0:
                d["a"] = d.pop("a")
            else:
                d["b"] = d.pop("b")
            return x * 1

        return f

    assert_as_eager(make)


def test_a_dict_that_is_filled_anew():
    def make(d):
        def f(x):
            d.clear()
            d.update({"b": 1.0, "a": 2.0})
            return x * 1

        return f

    assert_as_eager(make)


def test_a_key_that_comes_before_a_raise_is_behind_the_others():
    def make(d):
        def f(x):
            try:
                try:
                    if x.sum() > 2:
                        d["new"] = 3.0
                        raise ValueError
                    d["b"] = 4.0
                    if x.sum() > 1:
                        raise KeyError
                except ValueError:
                    d["b"] = 5.0
                    raise
            except (ValueError, KeyError):
                x = x * 2
            return x * 1

        return f

    assert_as_eager(make)


def test_an_order_that_changes_between_calls_is_another_trace():
    d = {"a": 1.0, "b": 2.0}

    def first(x):
        return x * next(iter(d.values()))

    with config.NO_JIT.override(True):
        f = jit.to_static(first)
        assert float(f(to_tensor(1.0))) == 1.0
        d["a"] = d.pop("a")
        assert float(f(to_tensor(1.0))) == 2.0


def test_explain_names_what_a_loop_runs_over():
    @jit.to_static
    def f(x):
        for key in {"a": 1}:
            x = x + len(key)
        return x

    f(to_tensor([1.0]))
    assert "it runs over a Python dict" in f.explain()
