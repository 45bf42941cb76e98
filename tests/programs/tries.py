"""`try` around what only the run knows to be raised."""

import dy2st as paddle


def nobody_reads_it_behind(x):
    y, z = x, x
    try:
        y = y * 2
        w = y + 1
    finally:
        z = z[0]
    try:
        w = w * 2
    except ValueError:
        z = w
    return x


def loop_behind_what_may_raise(x, n):
    y = x
    try:
        k = x[n]
        y = paddle.stack([row * k for row in x])
    finally:
        z = paddle.stack([row * 2 for row in x])
    return y, z


P, N, B = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [7.0, 3.0, 4.0]


class Stop(Exception):
    def __init__(self, value):
        super().__init__("stop")
        self.value = value


class Negative(ValueError):
    pass


def caught(x):
    try:
        if x.sum() < 0:
            raise ValueError("negative")
        return x * 2
    except ValueError:
        return x * 3


def every_block(x):
    y = x
    try:
        y = y * 2
        if x.sum() < 0:
            y = y + 1
            raise ValueError("negative")
        y = y * 5
    except ValueError:
        y = y * 3
    else:
        y = y + 7
    finally:
        y = y * x
    return y


def raised_deep_inside(x):
    n = 0
    try:
        if x[0] < 0:
            if x[1] < -1:
                n = n + 1
                if x[2] < -3:
                    raise KeyError("deep")
                n = n + 10
            n = n + 100
        n = n + 1000
    except KeyError:
        return x, n
    return x * n, n


def in_a_for_loop(x, n):
    s = x
    try:
        for i in range(n):
            if s.sum() > 20:
                raise ValueError(f"too large at {i}")
            s = s * 2
    except ValueError:
        s = s - i
    return s


def in_a_while_loop(x):
    count = 0
    h = x
    try:
        while True:
            h = h * 1.5
            count = count + 1
            if h.norm() > 50:
                raise StopIteration
            if h.norm() < 1:
                break
    except StopIteration:
        h = h * 2
    else:
        h = h * 3
    return h, count


def around_each_iteration(x):
    total = 0
    for v in x:
        try:
            if v < 0:
                raise ValueError("negative")
            total = total + v
        except ValueError:
            total = total - 10 * v
            continue
        finally:
            total = total + 0.25
    return total


def loops_in_loops(x, n):
    total = x.sum() * 0
    for i in range(n):
        try:
            for j in range(i + 1):
                total = total + x[j]
                if total > 10:
                    raise ValueError
            total = total + 0.5
        except ValueError:
            total = total / 4
    return total


def break_beside_it(x, n):
    for _ in range(n):
        try:
            x = x * 2
            if x.sum() > 30:
                break
            if x[0] < -7:
                raise KeyError
        except KeyError:
            x = -x
    return x


def tried_again(x):
    result = x
    for scale in [1.0, 0.5, 0.25]:
        try:
            v = x * scale
            if v.sum() > 4:
                raise OverflowError
            result = v
            break
        except OverflowError:
            continue
    return result


def require_positive(v):
    if not (v > 0).all():
        raise Negative(f"the least is {v.min():.1f}")
    return v.log()


def raised_by_functions(x):
    try:
        y = require_positive(x)
        y = y + require_positive(x - 1.5)
    except ValueError as e:
        y = x * (3 if type(e) is Negative else 4)
    return y


def function_that_tries(x):
    def attempt(v):
        try:
            return require_positive(v)
        except Negative:
            return v * 0.1

    return attempt(x) + attempt(-x)


def asserted(x):
    try:
        assert x.sum() > 0, f"the sum is {x.sum():.1f}"
        assert x[0] < 5
        y = x * 2
    except AssertionError:
        y = x * 3
    return y


def several_handlers(x):
    try:
        if x.sum() < 0:
            raise Stop(x.sum())
        if x[0] > 3:
            raise KeyError("big")
        if x[1] > 3:
            raise IndexError("one")
        y = x * 2
    except (KeyError, IndexError):
        y = x * 3
    except Stop as stop:
        y = x * stop.value
    return y


def value_out_of_a_loop(x):
    try:
        for v in x:
            if v > 1.5:
                raise Stop(v)
        r = x.sum()
    except Stop as stop:
        r = stop.value * 7
    return r


def nested(x):
    y = x
    try:
        try:
            if x.sum() < 0:
                raise ValueError("a")
            if x[0] > 3:
                raise KeyError("b")
            y = y * 2
        except ValueError:
            y = y * 3
            if x[0] < -3:
                raise RuntimeError("inner") from None
        finally:
            y = y + 1
        y = y * 7
    except KeyError:
        y = y - 100
    except RuntimeError:
        y = y - 1000
    return y


def raised_in_else(x):
    try:
        try:
            if x.sum() < 0:
                raise ValueError
        except ValueError:
            x = x + 1
        else:
            if x[0] > 3:
                raise ValueError("else")
            x = x - 1
    except ValueError:
        x = x * 10
    return x


def raised_again(x):
    try:
        if x.sum() < 0:
            raise ValueError(f"the sum is {x.sum():.1f}")
        y = x * 2
    except ValueError:
        if x[0] < -3:
            raise
        y = x * 3
    return y


def raised_from_it(x):
    try:
        if x.sum() < 0:
            raise Stop(x.mean())
        y = x * 2
    except Stop as stop:
        raise RuntimeError("stopped") from stop
    return y


def taken_by_nobody(x):
    try:
        if x.sum() < 0:
            raise ValueError("negative")
        if x[0] > 3:
            raise KeyError("key")
        y = x * 2
    except KeyError:
        y = x * 3
    return y


def raised_on_all_paths(x):
    try:
        if x.sum() < 0:
            raise ValueError("a")
        else:
            raise KeyError("b")
    except ValueError:
        return x * 2
    except KeyError:
        return x * 3


def printed_in_finally(x):
    y = x
    try:
        if x.sum() < 0:
            raise ValueError("a")
        y = y * 2
    finally:
        print("done", y.sum())
    return y


def list_that_grew(x):
    outs = []
    try:
        for v in [x, x * 2, x * 3]:
            if v.sum() > 8:
                raise ValueError
            outs.append(v)
    except ValueError:
        outs.append(x * 0)
    s = outs[0]
    for v in outs:
        s = s + v
    return s, len(outs)


def list_made_inside(x):
    try:
        if x[0] < 5:
            outs = [x]
            if x.sum() < 0:
                raise ValueError
            outs.append(x * 2)
        else:
            outs = [x, x]
    except ValueError:
        outs = [outs[0] * 5, x]
    return outs[0] + outs[1]


class Box:
    pass


def attributes(x):
    box = Box()
    box.h = x
    try:
        box.h = box.h + 1
        if x.sum() < 0:
            box.h = box.h * 2
            raise ValueError
        box.h = box.h * 5
    except ValueError:
        box.h = box.h - 1
    return box.h


def changed_in_place(x):
    y = x * 1
    try:
        y[0] = 5.0
        if x.sum() < 0:
            y[1] = 7.0
            raise ValueError
        y[2] = 9.0
    except ValueError:
        y[2] = y[1] + 1
    return y


def without_gradient(x):
    try:
        with paddle.no_grad():
            if x.sum() < 0:
                raise ValueError
            w = x * 2
        y = w * x
    except ValueError:
        y = x * 3
    return y


def index_out_of_range(x, n):
    try:
        y = x[n] * 2
    except IndexError:
        y = x.sum() * 3
    return y


def indices_out_of_range(x, n):
    try:
        y = x[n + paddle.arange(2)].sum()
    except IndexError as e:
        y = x.sum() * 3
        print(e.message)
    return y


def written_out_of_range(x, n):
    y = x * 1
    try:
        y[n] = 5.0
    except IndexError:
        y = y * 2
    return y


def division_by_zero(x, n):
    try:
        a = x * (7 // n)
    except ZeroDivisionError:
        a = x
    try:
        b = x * (7 % int(n))
    except ZeroDivisionError as e:
        print(e)
        b = -x
    return a, b


def no_integer(x):
    try:
        y = x * int(x.sum() / x[0])
    except ValueError:
        y = x + 1
    except OverflowError:
        y = x - 1
    return y


def entry_out_of_range(x, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    try:
        y = xs[2]
        y = y + xs.pop()
    except IndexError:
        y = x
    return y


def methods_of_a_list_that_fail(x, n):
    found, said = [], []
    for i in range(n):
        found.append(i * 10)
    try:
        at = found.index(10)
    except ValueError as error:
        at = -1
        print(error)
    try:
        found.remove(20)
    except ValueError as error:
        found.append(-5)
        print(error)
    try:
        most = max([v for v in found if v >= 0])
    except ValueError as error:
        most = -1
        print(error)
    try:
        taken = found.pop(1)
    except IndexError as error:
        taken = -1
        print(error)
    try:
        del found[1]
    except IndexError as error:
        said.append(str(error))
        print(error)
    return x, found, at, most, taken, len(said)


def index_in_a_loop(x, n):
    try:
        for i in range(n):
            if x[i] > 2:
                return i
        return None
    except IndexError:
        return -1


def decided_by_python(x, n):
    try:
        if n > 2:
            raise ValueError
        return x * [1.0, 2.0][int(x.shape[0] > 2)]
    except ValueError:
        return x


class Guarded(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = paddle.to_tensor([1.0, 2.0, 0.5])
        self.failed = 0

    def forward(self, x):
        try:
            y = self.scaled(x)
        except Negative as e:
            self.failed = self.failed + 1
            y = x * self.failed
            if len(e.args) > 1:
                y = y + e.args[1]
        return y

    def scaled(self, x):
        y = x * self.scale
        for v in y:
            if v < -5:
                raise Negative("negative", v)
            if v < -1:
                raise Negative("a little negative")
        return y


LAYER = Guarded()


def of_a_layer(x):
    LAYER.failed = 1
    return LAYER(x), LAYER.failed


def handlers_that_are_not_asked(x):
    """Python evaluates what a handler names only where an exception comes to it, and only once."""
    asked = []

    def kind(one):
        asked.append(one.__name__)
        return one

    try:
        y = x * 2
    except paddle.there_is_no_such_name:
        y = x
    try:
        y = {}["k"]
    except KeyError:
        y = y * 3
    except paddle.there_is_no_such_name:
        y = x
    try:
        y = y + [1][2]
    except kind(TypeError):
        y = x
    except (kind(KeyError), kind(IndexError)):
        y = y + 1
    except kind(Exception):
        y = x
    return y, asked


CASES = [
    (handlers_that_are_not_asked, [(P,), (N,)], 1),
    (caught, [(P,), (N,)], 1),
    (every_block, [(P,), (N,)], 1),
    (raised_deep_inside, [(P,), (N,), ([-1.0, 0.0, 1.0],), ([-1.0, -2.0, -1.0],)], 1),
    (in_a_for_loop, [(P, 1), (P, 5), (P, 3)], 1),
    (in_a_while_loop, [(P,), ([0.1, 0.1, 0.1],)], 1),
    (around_each_iteration, [(P,), (N,), ([7.0, -8.0, 9.0],)], 1),
    (loops_in_loops, [(P, 3), (P, 1), ([4.0, 4.0, 4.0], 3)], 1),
    (break_beside_it, [(P, 9), (N, 9), (B, 0)], 1),
    (tried_again, [(P,), ([1.0, 1.0, 1.0],), ([10.0, 10.0, 10.0],)], 1),
    (raised_by_functions, [(P,), (N,), ([2.0, 3.0, 4.0],)], 1),
    (function_that_tries, [(P,), (N,), ([1.0, -1.0, 1.0],)], 1),
    (asserted, [(P,), (N,), (B,)], 1),
    (several_handlers, [(P,), (N,), (B,), ([1.0, 5.0, 2.0],)], 1),
    (value_out_of_a_loop, [(P,), (N,), ([1.0, 1.0, 1.0],)], 1),
    (nested, [(P,), (N,), (B,), ([-5.0, 0.0, 2.0],)], 1),
    (raised_in_else, [(P,), (N,), (B,)], 1),
    (raised_again, [(P,), (N,), ([-5.0, 0.0, 2.0],)], 1),
    (raised_from_it, [(P,), (N,)], 1),
    (taken_by_nobody, [(P,), (N,), (B,)], 1),
    (raised_on_all_paths, [(P,), (N,)], 1),
    (printed_in_finally, [(P,), (N,)], 1),
    (list_that_grew, [(P,), (N,), ([0.5, 0.5, 2.0],)], 1),
    (list_made_inside, [(P,), (N,), (B,)], 1),
    (attributes, [(P,), (N,)], 1),
    (changed_in_place, [(P,), (N,)], 1),
    (without_gradient, [(P,), (N,)], 1),
    (index_out_of_range, [(P, 1), (P, 5), (P, -3), (P, -4)], 1),
    (indices_out_of_range, [(P, 1), (P, 5), (P, -3), (P, -4)], 1),
    (written_out_of_range, [(P, 1), (P, 5)], 1),
    (division_by_zero, [(P, 3), (P, 0)], 1),
    (no_integer, [(P,), ([0.0, 1.0, 2.0],), ([0.0, 0.0, 0.0],)], 1),
    (entry_out_of_range, [(P, 1), (P, 5), (P, 0)], 1),
    (methods_of_a_list_that_fail, [(P, 0), (P, 1), (P, 2), (P, 3), (P, 5)], 1),
    (index_in_a_loop, [(P, 3), (P, 2), (N, 5), (N, 1)], 1),
    (decided_by_python, [(P, 1), (P, 5)], 1),
    (of_a_layer, [(P,), (N,), ([-2.0, 0.0, 1.0],), ([0.5, -1.0, -9.0],)], 1),
    (nobody_reads_it_behind, [([1.0, 2.0],)], 1),
    (loop_behind_what_may_raise, [(P, 1), (P, 5)], 1),
]
