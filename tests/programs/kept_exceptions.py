"""Exceptions that paths choose or keep: raised behind that, and what others are raised from."""


class Large(ValueError):
    def __init__(self, text, value, total):
        super().__init__(text)
        self.value, self.total = value, total


class Negative(ValueError):
    pass


class Coded(Exception):
    def __init__(self, *, code):
        self.code = code


def require(x, limit=2.5):
    if (x < 0).any():
        raise Negative(f"{x.min():.1f} is negative")
    if (x > limit).any():
        raise Large(f"{x.max():.1f} is large", x * 2, x.sum())
    return x


def last_of_several_trials(x):
    last = None
    for scale in (1.0, 0.8, 0.5):
        try:
            return require(x * scale)
        except ValueError as error:
            last = error
    raise last


def from_the_last_of_several_trials(x):
    last = None
    for scale in (1.0, 0.8, 0.5):
        try:
            y = require(x * scale)
            break
        except ValueError as error:
            last = error
    else:
        raise RuntimeError("no scale will do") from last
    return y


def what_it_holds(x):
    first = None
    for scale in (1.0, 0.8, 0.5):
        try:
            y = require(x * scale)
            break
        except Large as error:
            first = error if first is None else first
            y = error.value * error.total
    return y if first is None else y + first.value


def behind_other_code(x):
    def attempt():
        failed, y = None, x
        try:
            y = require(x)
        except ValueError as error:
            failed = error
        y = y * 2
        if failed is not None:
            raise failed
        return y

    try:
        return attempt()
    except Negative:
        return x * 7


def positive(x):
    if (x < 0).any():
        raise Negative("negative")
    if (x > 2.5).any():
        raise Large("large", x * 2, 3)
    return x


def beside_a_result(x):
    def attempt(v):
        try:
            return positive(v), None
        except ValueError as error:
            return v, error

    y, first = attempt(x)
    z, second = attempt(x * 0.5)
    if first is not None and second is not None:
        raise first from second
    return y + z


def cause_or_none(x):
    found = None
    try:
        positive(x)
    except Large as error:
        found = error
    try:
        if x[0] > 0.7:
            raise RuntimeError("stopped") from found
    except RuntimeError as error:
        cause = error.__cause__
        return x * (1 if cause is None else 2), error.__suppress_context__
    return x, False


def made_before_it_is_raised(x):
    try:
        positive(x)
    except ValueError as error:
        stopped = RuntimeError("stopped")
        try:
            raise stopped from error
        except RuntimeError as again:
            if again.__cause__ is error and x[0] > 0:
                raise
    return x


def of_a_table(x):
    errors = [KeyError("first"), Large("second", x, 2), Coded(code=3)]
    i = int(x.argmax())
    if x[i] > 2.5:
        raise errors[i]
    return x


def of_a_condition(x):
    if x[1] > 2.5 or x[0] < 0:
        raise Large(f"{x.sum():.1f}", x, x.sum()) if x[0] > 0 else Coded(code=5)
    return x


def of_a_class(x):
    kind = KeyError if x[0] > 0 else Negative
    if x[1] > 2.5:
        raise kind("chosen")
    if x[2] > 3.5:
        raise kind
    return x


def of_a_class_that_is_caught(x):
    kind = KeyError if x[0] > 0 else Negative
    try:
        if x[1] > 2.5 or x[0] < 0:
            raise kind("chosen")
    except KeyError:
        return x * 2
    except ValueError:
        return x * 3
    return x


def none_is_no_exception(x):
    error = None if x[0] > 0 else Negative("negative")
    try:
        if x[1] > 2.5 or x[0] < -2:
            raise error
    except TypeError as wrong:
        return x * 2, str(wrong)
    return x, ""


def made_on_each_path(x):
    if x[0] > 0:
        y = x * 3
        error = Large(f"sum {y.sum():.1f}", y, 1) if x[1] > 2.5 else Large("small", y + 1, 2)
    else:
        error = Large("negative", x, 3)
    if x[2] > 3.5 or x[0] < -2:
        raise RuntimeError("stopped") from error
    return error.value


P, B, S, N, M = [1.0, 2.0, 3.0], [7.0, 3.0, 4.0], [0.5, 6.0, 0.25], [-1.0, -2.0, 4.0], [-3.0, 1.0, 0.0]
_CALLS = [(P,), (B,), (S,), (N,), (M,)]

CASES = [
    (f, _CALLS, 1)
    for f in (
        last_of_several_trials, from_the_last_of_several_trials, what_it_holds, behind_other_code, beside_a_result, cause_or_none,
        made_before_it_is_raised,
        of_a_table, of_a_condition, of_a_class, of_a_class_that_is_caught, none_is_no_exception, made_on_each_path,
    )
]  # fmt: skip
