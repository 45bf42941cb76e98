"""`finally` behind a body in which several things may be raised, each with other values of the variables."""

import dy2st as paddle

P, N, B, S = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [7.0, 3.0, 4.0], [0.5, 6.0, 0.25]


class Counter:
    def __init__(self):
        self.count = 0
        self.seen = []


def require(ok, text):
    if not ok:
        raise ValueError(text)


def stages(x):
    """How far the body has got is a number for `finally`, and for the handler around."""
    stage, y = 0, x
    try:
        try:
            require(x[0] > 0, "first")
            stage, y = 1, x * 2
            require(x[1] > 2.5, "second")
            stage, y = 2, x * 3
            require(x[2] > 3.5, "third")
            stage, y = 3, y + 1
        finally:
            y = y * 10 + stage
    except ValueError as error:
        return y, stage, f"{error} at {stage}"
    return y, stage, "done"


def collected(x):
    """A list has another length in each place where something is raised."""
    parts = [x]
    try:
        try:
            require(x[0] > 0, "first")
            parts.append(x * 2)
            require(x[1] > 2.5, "second")
            parts.append(x * 3)
            require(x[2] > 3.5, "third")
            parts.append(x * 4)
        finally:
            parts.append(x * 5)
    except ValueError:
        return len(parts), paddle.stack(parts).sum(0)
    return len(parts), paddle.stack(parts).sum(0) + 1


def set_on_the_way(x):
    """What has no value yet where the first is raised is read only where it has one."""
    known, result = False, x
    try:
        require(x[0] > 0, "first")
        scale = x.sum()
        known = True
        require(x[1] > 2.5, "second")
        shift = x.max()
        require(x[2] > 3.5, "third")
        result = x + shift
    except ValueError:
        result = x - 1
    finally:
        if known:
            result = result * scale
    return result


def none_before(x):
    best = None
    try:
        try:
            require(x[0] > 0, "first")
            best = x[0]
            require(x[1] > 2.5, "second")
            best = x[1]
            require(x[2] > 3.5, "third")
        finally:
            if best is not None:
                best = best * 2
    except ValueError:
        pass
    return x if best is None else x * best


def keys(x):
    table = {"a": x}
    try:
        try:
            require(x[0] > 0, "first")
            table["b"] = x * 2
            require(x[1] > 2.5, "second")
            table["a"] = x * 3
            require(x[2] > 3.5, "third")
        finally:
            table["end"] = table.get("b", x) + table["a"]
    except ValueError:
        return sorted(table), table["end"]
    return sorted(table), table["end"] + 1


def in_place(x):
    y = x * 1
    try:
        try:
            require(x[0] > 0, "first")
            y[0] = 10.0
            require(x[1] > 2.5, "second")
            y.add_(x)
            require(x[2] > 3.5, "third")
            y[1:] = 0.0
        finally:
            y.scale_(2.0)
    except ValueError:
        return y
    return y + 1


def attributes(x):
    counter = Counter()
    try:
        try:
            require(x[0] > 0, "first")
            counter.count += 1
            counter.seen.append(x[0])
            require(x[1] > 2.5, "second")
            counter.count += 1
            counter.seen.append(x[1])
            require(x[2] > 3.5, "third")
            counter.last = x[2]
        finally:
            counter.count *= 10
    except ValueError:
        return counter.count, len(counter.seen), x + sum(counter.seen)
    return counter.count, len(counter.seen), x * counter.last


def raises_too(x):
    """What `finally` raises is raised in the place of what was."""
    y = x
    try:
        try:
            require(x[0] > 0, "first")
            y = x * 2
            require(x[1] > 2.5, "second")
            y = x * 3
            require(x[2] > 3.5, "third")
        finally:
            y = y + 1
            if y.sum() > 15:
                raise KeyError("sum")
            y = y + 1
    except ValueError as error:
        return y, str(error)
    except KeyError:
        return y, "too much"
    return y, "none"


def one_in_the_other(x):
    trace, y = [], x
    try:
        try:
            try:
                require(x[0] > 0, "first")
                y = y * 2
                require(x[1] > 2.5, "second")
            finally:
                trace.append(y.sum())
                require(x[2] > 3.5, "third")
                trace.append(y.max())
        finally:
            y = y + len(trace)
            require(x.sum() < 12, "fourth")
            y = y * 3
    except ValueError as error:
        return y, str(error), len(trace)
    return y, "", len(trace)


def in_a_loop(x):
    y, left = x * 0, 0
    for v in x:
        try:
            if v < 0:
                continue
            require(v < 6.5, "large")
            y = y + v
            if v > 5:
                break
            require(v != 2, "two")
            y = y * 2
        except ValueError:
            y = y - 1
        finally:
            left += 1
            y = y + 0.5
    return y, left


def left_by_return(x):
    y = x
    try:
        for v in x:
            try:
                require(v > -2, "small")
                y = y + v
                if v > 2.5:
                    return y, "large"
                require(v < 2.75, "large")
                y = y * 2
            finally:
                y = y - 1
    except ValueError as error:
        return y * 0.5, str(error)
    return y, ""


def every_way_raises(x):
    y = x
    try:
        try:
            require(x[0] > 0, "first")
            y = x * 2
            require(x[1] > 2.5, "second")
            y = x * 3
            raise KeyError("end")
        finally:
            y = y + 1
    except ValueError as error:
        return y, str(error)
    except KeyError:
        return y, "end"


def printed(x):
    y = x
    try:
        print("a")
        require(x[0] > 0, "first")
        y = x * 2
        print("b", y)
        require(x[1] > 2.5, "second")
        print("c")
        require(x[2] > 3.5, "third")
    finally:
        print("finally", y)
    return y


def sizes_that_differ(x):
    part = x
    try:
        try:
            require(x[0] > 0, "first")
            part = x[:2]
            require(x[1] > 2.5, "second")
            part = x[:1]
            require(x[2] > 3.5, "third")
            part = paddle.concat([x, x])
        finally:
            part = part * 2
    except ValueError:
        return part.sum(), part.shape[0]
    return part.sum() + 1, part.shape[0]


def of_the_body_alone(x):
    """What the body has set is known behind it, if nothing was raised, as without a `try`."""
    width = 3
    try:
        require(x[0] > -9, "first")
        width = 1
        require(x[1] > -9, "second")
        rows = [x, x * 2]
        require(x[2] > -9, "third")
    finally:
        x = x + 1
    return x.reshape([width, -1]), paddle.stack([row[:width] for row in rows])


def context_of_what_is_raised(x):
    try:
        try:
            if x[0] > 0:
                raise ValueError
        finally:
            if x.sum() > 7:
                raise RuntimeError
    except RuntimeError as e:
        return isinstance(e.__context__, ValueError), e.__context__ is None
    except ValueError as e:
        return False, e.__context__ is None
    return False, False


def operands_that_do_not_fit(x):
    """An operator raises too: what is raised before it is lost."""
    half = 0.5
    try:
        try:
            require(x[0] > 0, "first")
        finally:
            half = half ^ 3
    except TypeError:
        return x * 2
    except ValueError:
        return x * 3
    return x


def what_may_not_fit(x):
    part = x
    try:
        try:
            part = x[:2]
            require(x[1] > 2.5, "second")
        finally:
            part = part < None if x[0] > 0 else part
    except TypeError:
        return x * 2
    except ValueError:
        return x * 3
    return x * 4


def one_of_two_functions(x):
    """Which of them it is comes from a table, whose index nothing catches."""
    change = abs
    try:
        change = None if x[0] > 0 else change
        if change:
            raise ValueError
    except ValueError:
        print("caught")
    finally:
        print("end")
    return x if change is None else change(x)


ALL = [(P,), (N,), (B,), (S,), ([1.0, 3.0, 3.0],), ([1.0, 3.0, 9.0],)]
CASES = [
    (f, ALL, 1)
    for f in (stages, collected, set_on_the_way, none_before, keys, in_place, attributes, raises_too, one_in_the_other, in_a_loop,
              left_by_return, every_way_raises, printed, sizes_that_differ, of_the_body_alone, context_of_what_is_raised,
              operands_that_do_not_fit, what_may_not_fit, one_of_two_functions)
]  # fmt: skip
