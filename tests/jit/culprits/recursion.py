"""Recursion."""

from .things import Held


def object_replaced_in_recursion(x, n):
    holder = Held({"sum": x})

    def visit(k):
        if k > 0:
            holder.x = {"sum": holder.x["sum"] + k}
            visit(k - 1)  # error: 'visit' calls itself under a condition on tensors and changes what is outside of it: attribute 'x'

    visit(n)
    return holder.x["sum"]


def modified_in_recursion_perhaps(x, n):
    total = x * 0
    other = total if n > 1 else x * 2

    def visit(k):
        if k > 0:
            total.add_(x)
            visit(k - 1)  # error: 'visit' calls itself under a condition on tensors and changes what is outside of it: what may be one

    visit(n)
    return total, other * 1


def argument_changed_in_recursion(x):
    if x.sum() > 10:
        return x
    x.add_(x)
    return argument_changed_in_recursion(x * 2)  # error: 'argument_changed_in_recursion' calls itself under a condition on tensors


def list_grown_in_recursion(x, n, parts=None):
    parts = [x] if parts is None else parts
    if n <= 0:
        return x
    parts.insert(0, x * 2)
    return list_grown_in_recursion(x * 0.5, n - 1, [x, x * 2]) + parts[0]  # error: what is modified in place here is on one path


def entry_of_a_copied_argument_changed_in_recursion(x, n, parts=None):
    parts = [x.sum()] if parts is None else [*parts, x.min()]
    if n <= 0:
        return x
    found = entry_of_a_copied_argument_changed_in_recursion(x * 0.5, n - 1, parts)  # error: 'entry_of_a_copied
    parts[0].add_(x.max())
    return found


def list_in_an_argument_replaced_in_recursion(x, n, rows=None):
    rows = [[x], []] if rows is None else rows
    if n <= 0:
        return x
    if x.sum() > 1:
        rows[1] = [list_in_an_argument_replaced_in_recursion(x * 0.5, n - 1, rows)]
        return list_in_an_argument_replaced_in_recursion(x * 0.25, n - 1, rows)  # error: 'list_in_an_argument_replaced_in_recursion' calls
    return list_in_an_argument_replaced_in_recursion(x + 1, n - 1, [[x], []])


class Stack:
    def __init__(self, x):
        self.entries = [x]


def list_replaced_until_a_call_is_back(x, n):
    stack = Stack(x)

    def visit(k):
        if k <= 0:
            return stack.entries[0] * 1.0
        before = stack.entries
        stack.entries = [before[0] * 2]
        found = visit(k - 1)  # error: 'visit' calls itself under a condition on tensors and changes what is outside of it
        stack.entries = before
        return found

    return visit(n)


def nested_deeper_in_each_call(x, n):
    if n == 0:
        return x
    return nested_deeper_in_each_call([x, x, n], n - 1)  # error: 'nested_deeper_in_each_call' calls itself under a condition on tensors


def recursion_without_end(x):
    y = recursion_without_end(x - 1) if x.sum() > 0 else recursion_without_end(x + 1)  # error: 'recursion_without_end' calls itself on
    return y * 2


def result_of_two_dtypes(x):
    if x.sum() > 10:  # error: the result has dtype int64 on one path and float32 on the other
        return x.astype("int64")
    return result_of_two_dtypes(x * 2) * 0.5


def raised_in_a_call_and_caught(x):
    try:
        if x.mean() < 1:
            raise ValueError
        if x.sum() > 0:
            return raised_in_a_call_and_caught(x - 4)  # error: a try statement cannot catch what only the run knows to be raised in a call
    except ValueError as error:
        if x.mean() < -1:
            raise ValueError("again") from error
    return x


def caught_recursion(x):
    def deep(y):
        return y if y.sum() > 10 else deep(y * 2)  # error: a try statement cannot catch what only the run knows to be raised

    try:
        return deep(x)
    except RecursionError:
        return x


def caught_outside_of_recursion(x, n):
    def visit(t, k):
        if t.sum() > 9:  # error: a try statement cannot catch what only the run knows to be raised in this place
            raise ValueError("large")
        return t if k <= 0 else visit(t * 2, k - 1)

    try:
        return visit(x, n)
    except ValueError:
        return x


def caught_around_a_call_inside(x, n):
    way = []

    def visit(k):
        way.append(k)
        try:
            return x * len(way) if k <= 0 else visit(k - 1)  # error: a try statement cannot catch what only the run knows to be
        finally:
            way.pop()

    return visit(n)


def closure_made_for_each_call(x, n):
    def visit(k, f):
        if k <= 0:
            return f(x)
        return visit(k - 1, lambda v: f(v) * 2 + k)  # error: 'visit' calls itself without end while

    return visit(n, lambda v: v + 1)


def modified_after_a_call_that_may_return_it(x, n):
    def visit(t, k):
        if k <= 0:
            return t
        inner = t * 2
        found = visit(inner, k - 1)
        inner.clip_(-0.5, 0.5)  # error: what is modified in place here is on one path the same object as a tensor or list that is used
        return found

    return visit(x, n)


def modified_after_a_call_has_kept_it(x, n):
    kept = []

    def visit(t, k):
        if k <= 0:
            kept.append(t)
            return t + 1
        inner = t * 2
        found = visit(inner, k - 1)
        inner.add_(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is used
        return found

    return visit(x, n) + kept[0]


def argument_is_what_the_function_modifies_outside(x, n):
    total = x + 0

    def visit(t, k):
        if k <= 0:
            return t + 0
        total.add_(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is used
        return visit(t * 2, k - 1) + t

    return visit(total, n)


def list_given_that_the_function_grows_outside(x, n):
    parts = [x]

    def visit(rows, k):
        if k <= 0:
            return rows[-1]
        parts.append(x * 9)  # error: what is modified in place here is on one path the same object as a tensor or list that is used
        return visit([rows[0] * 2], k - 1) + rows[-1]

    return visit(parts, n)


def dict_given_that_the_function_changes_outside(x, n):
    def visit(holder, sums, k):
        if k <= 0:
            return sums["sum"]
        holder.x["sum"] = holder.x["sum"] + 1
        return visit(holder, {"sum": sums["sum"] * 2}, k - 1) + sums["sum"]

    held = Held({"sum": x})
    return visit(held, held.x, n)  # error: a list, dict or object is changed in place after this, which is one or another one


def two_arguments_that_are_one_at_first(x, n):
    def visit(a, b, k):
        if k <= 0:
            return x * 2 if a is b else x  # error: whether the two are one object depends on a condition on tensors
        return visit(a, b * 1, k - 1)

    return visit(x, x, n)


def argument_modified_by_what_a_call_returns(x, n):
    def visit(a, b, k):
        if k <= 0:
            return a
        inner = a * 2
        found = visit(b, inner, k - 1)
        found.add_(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is used
        return inner

    return visit(x + 1, x * 3, n) * 1


def argument_modified_in_a_call_as_what_is_outside(x, n):
    total, other = x + 1, x * 3

    def visit(a, k):
        if k <= 0:
            total.add_(x)
            return x
        visit(total if k > 1 else other, k - 1)  # error: what is modified in place here is on one path the same object
        return a * 2

    return visit(total, n)
