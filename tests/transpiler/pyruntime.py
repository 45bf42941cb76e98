"""What transformed code calls, for plain Python values only: the smallest thing that means the same."""

import contextlib
import operator

from dy2st.convert.builtins import match_stmt as matching


class Undefined:
    def __init__(self, name):
        self.name = name


class PyRuntime:
    """The runtime object. With `convert` given, functions that are called are converted too."""

    Undefined = Unread = Dead = Undefined
    slice = slice

    def is_absent(self, value):
        return isinstance(value, Undefined)

    def known_kinds(self, named):
        return named

    def __init__(self, convert=None):
        self.convert = convert
        self.states = []  # (kind, names) of the statements that ran, for tests to look at

    def stored(self, owner):
        return owner

    def ld(self, value, name):
        if isinstance(value, Undefined):
            raise UnboundLocalError(f"cannot access local variable '{name}'")
        return value

    def ldu(self, thunk, name):
        try:
            return thunk()
        except (AttributeError, NameError, KeyError, IndexError):
            return Undefined(name)

    def if_stmt(self, test, body, orelse, get_state, set_state, names, dead=()):
        self._check("if", get_state, set_state, names)
        (body if test else orelse)()

    def while_stmt(self, test, body, get_state, set_state, names):
        self._check("while", get_state, set_state, names)
        while test():
            body()

    def for_stmt(self, iterable, body, extra_test, get_state, set_state, names):
        self._check("for", get_state, set_state, names)
        for item in iterable:
            body(item)
            if extra_test is not None and not extra_test():
                break

    def try_stmt(self, body, kinds, handlers, orelse, final, shows, get_state, set_state, names, dead=()):
        self._check("try", get_state, set_state, names)
        try:
            try:
                body()
            except BaseException as error:
                if handlers is None:
                    raise
                handlers(error)
            else:
                if orelse is not None:
                    orelse()
        finally:
            if final is not None:
                final()

    def manager(self, x):
        return x

    def except_star(self):
        return contextlib.nullcontext()

    def _check(self, kind, get_state, set_state, names):
        """The state can be read and written back at any time, with no effect."""
        if not any("." in n or "[" in n for n in names):  # reading an attribute may print
            state = get_state()
            assert len(state) == len(names)
            set_state(state)
        self.states.append((kind, names))

    def comprehension_test(self, test, kind):
        return test

    def list_comp(self, xs, element, test=None, flat=False):
        found = [element(x) for x in xs if test is None or test(x)]
        return [x for part in found for x in part] if flat else found

    def dict_comp(self, xs, element, test=None):
        return dict(element(x) for x in xs if test is None or test(x))

    def generator(self, xs, element, test=None, flat=False):
        items = iter(xs)
        found = (element(x) for x in items if test is None or test(x))
        return (x for part in found for x in part) if flat else found

    def advanced(self, x):
        return x

    class Through(BaseException):
        pass

    def tried(self, alone):
        return contextlib.nullcontext()

    def iterated(self, xs):
        return xs

    def list_join(self, *parts):
        return [x for part in parts for x in part]

    def unpack(self, item, count):
        parts = tuple(item)
        assert len(parts) == count
        return parts

    def unpacked_rest(self, value, before, after):
        *items, = value
        end = len(items) - after
        if end < before:
            raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
        return (*items[:before], items[before:end], *items[end:])

    def unpacked(self, value, count):
        return value

    def if_expr(self, test, body, orelse):
        return body() if test else orelse()

    def and_(self, *operands):
        for operand in operands:
            value = operand()
            if not value:
                break
        return value

    def or_(self, *operands):
        for operand in operands:
            value = operand()
            if value:
                break
        return value

    and_test, or_test = and_, or_

    def not_(self, value):
        return not value

    match_sequence = staticmethod(matching.match_sequence)
    match_rest = staticmethod(matching.match_rest)
    match_mapping = staticmethod(matching.match_mapping)
    match_others = staticmethod(matching.match_others)
    match_class = staticmethod(matching.match_class)
    match_part = staticmethod(matching.match_part)

    def text(self, value):
        return value

    def shown(self, value, how, spec):
        return format({"": lambda x: x, "s": str, "r": repr, "a": ascii}[how](value), spec)

    def percent_of(self, template, values):
        return operator.imod(template, values)

    def percent(self, template, values):
        return template % values

    def is_none(self, value):
        return value is None

    def in_(self, a, b):
        return a in b

    def not_in(self, a, b):
        return a not in b

    def compare(self, symbol, a, b):
        return OPERATORS[symbol](a, b)

    def compare_chain(self, left, pairs):
        for symbol, thunk in pairs:
            right = thunk()
            result = OPERATORS[symbol](left, right)
            if not result:
                break
            left = right
        return result

    def assert_stmt(self, test, message):
        if not test:
            raise AssertionError(*([] if message is None else [message()]))

    def call(self, function):
        return function if self.convert is None else self.convert(function)

    def list_append(self, a, x):
        a.append(x)
        return a

    def list_extend(self, a, x):
        a.extend(x)
        return a

    def list_insert(self, a, i, x):
        a.insert(i, x)
        return a

    def list_clear(self, a):
        a.clear()
        return a

    def list_pop(self, a, *args):
        return a, a.pop(*args)

    def exception(self, x):
        return x

    def class_of(self, x):
        return x.__class__

    def getitem(self, a, *keys):
        for key in keys:
            a = a[key]
        return a

    def getslice(self, a, start, stop, step):
        return a[start:stop:step]

    def setitem(self, a, i, v):
        a[i] = v
        return a

    def delitem(self, a, i):
        del a[i]
        return a


OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
