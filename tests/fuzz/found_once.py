"""Programs that the fuzzer has found, made small by it: each showed a disagreement once. `python -m tests.fuzz` prints more."""

# ruff: noqa: B007, F841, SIM102, UP031  (what is left of them looks like this)

import dy2st as paddle
from tests.fuzz.world import Net, Record, collected, halves, scaled


def value_or_none_printed(x, n, m, a):
    best = None
    if n > 0:
        best = int(n)
    print(best, f"{best}", "%s" % best)
    value = x if n > 1 else None
    print(value)
    return x


def assertion_whose_message_fails(x, n, m, a):
    assert n, 0 // 0
    return x


def assertion_whose_message_computes(x, n, m, a):
    for i in range(n):
        assert i < 2, f"bad: {i} {x[i].item():.2f}"
    return x


def body_that_raises(x, n, m, a):
    k = n
    while k > 0:
        k = k - 1
        [][-1]
    return x


def body_that_raises_in_the_end(x, n, m, a):
    items = [x, x * 2]
    for v in x:
        y = items.pop()
    return x, items


def body_that_raises_in_a_branch(x, n, m, a):
    for i in range(n):
        if i == 1:
            for v in x:
                x = x * 2
                raise KeyError(f"{i}")
    return x


def attribute_of_what_a_method_changes(self, x, n, m, a):
    if x.sum() > 0:
        return x
    self.update(x.sum())
    self.total = self.total * 0.5
    return x * 2


def none_or_undefined_or_tensor(x, n, m, a):
    if n > 2:
        y = None
    elif n > 0:
        y = x
    return y is None


def none_returned_in_an_inner_branch(x, n, m, a):
    if n > 2:
        if x.sum() < 0:
            return None
    elif n > 0:
        if x.sum() > 0:
            return None
    else:
        if x.sum() > 20:
            return
    return x * 2


def none_or_number_returned(x, n, m, a):
    if x.sum() < 0:
        if n > 2:
            return None
    return int(n)


def none_or_entry_returned(x, n, m, a):
    if x.sum() < 0:
        if n > 2:
            return None
        y = 1
    else:
        for v in x:
            if v > n:
                return v
    return None


def none_in_a_loop(x, n, m, a):
    for i in range(n):
        if i > 1:
            if x.sum() > i:
                y = x[0]
            y = None
        elif n > 0:
            y = None
    if n > 2:
        y = x
    else:
        y = None
    return y


def method_and_attribute_in_a_loop(self, x, n, m, a):
    for _ in m:
        self.update(n)
        assert self.last is None
        self.last = None


def index_error_in_a_branch_not_taken(x, n, m, a):
    if x.sum() > 0:
        return a
    y = n[0]


def index_error_in_each_iteration(x, n, m, a):
    for v in x:
        x = x + n[0] * v
    return x


def empty_list_on_one_path(x, n, m, a):
    if n > 0:
        y = []
    return y


def list_on_one_path(x, n, m, a):
    if n > 0:
        y = [x]
    return y[0] * 2


def nested_containers_on_one_path(x, n, m, a):
    if n > 0:
        y = x, {"a": x}
    return y[1]["a"] * 2


def lists_on_two_of_three_paths(x, n, m, a):
    if n > 2:
        y = []
    elif n > 0:
        y = [x]
    return y


def list_that_a_loop_makes(x, n, m, a):
    for i in range(n):
        y = [x]
    for i in range(n):
        y.append(x)
    return y


def list_on_one_path_grown_on_it(x, n, m, a):
    if n > 0:
        y = [x]
    if n > 1:
        if x.sum() < 0:
            y.append(x * 2)
        for v in x:
            y.append(v * x)
    return y


def object_of_a_loop_with_break(x, n, m, a):
    for i in range(n):
        if x.sum() > i:
            mode = "a"
            break
    else:
        mode = "a"
    return x if mode == "a" else -x


def tuple_of_a_loop_with_break(x, n, m, a):
    for i in range(n):
        if x.sum() > i:
            y = 1, x
            break
    else:
        y = 2, x
    p, q = y
    return p * q


def returned_by_a_function_inside(x, n, m, a):
    def first():
        for v in x:
            if v > 0:
                return "a", v
        return "a", x[0]

    p, q = first()
    return p == "a", q


def lists_of_branches_in_a_loop(x, n, m, a):
    for i in range(n):
        if i == 0:
            y = [x, x]
        elif i == 1:
            y = [x * 2, x * i]
        y[0] = y[0] * 2
    return y




def list_of_an_inner_loop_returned(x, n, m, a):
    c = n
    while c > 0:
        if n > 1:
            y = []
            for v in x:
                y.append(v)
            return y
        c = c - 1
    return []


def power_that_nobody_uses(x, n, m, a):
    for i in m:
        x = x**2


def lists_of_three_lengths(x, n, m, a):
    if n > 1:
        z = x * 2
        y = [z]
    elif n > 0:
        y = []
    else:
        y = [x, x]
    return y


def lists_of_three_lengths_in_tuples(x, n, m, a):
    if n > 0:
        if n > 2:
            return (0, [])
        elif x.sum() > 0:
            return (0, [x])
    return (1, [x, x])


def operand_that_raises(x, n, m, a):
    k = n or 1 // 0
    return x.sum() > 0 and n > 5 and [][0], k


def method_called_like_one_of_a_dict(self, x, n, m, a):
    if n > 0:
        self.cache["n"] = n
    elif x.sum() > 0:
        self.update(scaled)


def raise_in_place_of_another(x, n, m, a):
    try:
        if n > 0:
            raise KeyError("k")
    finally:
        k = 1 // 0


def both_branches_raise_texts(x, n, m, a):
    if n > 0:
        y = x * 2
        raise ValueError(f"a {y.sum().item():.1f}")
    else:
        y = x * 3
        raise KeyError(f"b {y.sum().item():.1f}")


def raise_behind_what_may_raise(x, n, m, a):
    try:
        y = x[m[0]]
    finally:
        raise ValueError(f"{(x + 1).sum().item():.1f}")


def loop_whose_test_may_raise(x, n, m, a):
    k = n
    try:
        while x[k] > -5:
            k = k + 1
    finally:
        y = x.sort() if n > 5 else x


def list_set_to_another_shape(x, n, m, a):
    items = []
    if n:
        items.append(x * 2)
    items[0] = x[1:]
    return items


def list_copied_on_one_path_grown_on_the_other(x, n, m, a):
    items = []
    if n:
        items = list(items)
    else:
        items.append(x)
    return items


def entry_of_an_argument_replaced_and_changed(x, n, m, a, held_tables):
    if n > 1:
        held_tables[0]["a"] = a.sum()
    else:
        held_tables[0] = held_tables[0] if x.sum() > 0 else {"a": x[0], "b": x.mean()}
    return held_tables


def finally_that_reads_what_else_sets(x, n, m, a):
    try:
        if n > 1:
            raise KeyError("k")
    except KeyError:
        pass
    else:
        a = a * 2
    finally:
        y = a * 3
    return y


KEPT_NUMBERS = [1]


def _change_what_is_kept(x):
    KEPT_NUMBERS[0] = x.sum()


def list_put_into_a_global_changed_elsewhere(x, n, m, a):
    global KEPT_NUMBERS
    KEPT_NUMBERS = [2]
    if n > 1:
        _change_what_is_kept(x)
    return KEPT_NUMBERS[0] * x


def item_set_of_a_global_number_in_a_handler(x, n, m, a):
    try:
        for _ in x:
            raise KeyError("k")
    except KeyError:
        if n:
            KEPT_RATE[1] = not_there  # noqa: F821


KEPT_RATE = 0.5


def entry_changed_by_what_a_recursive_call_gives(x, n, m, a):
    rows = [{"b": v} for v in x]
    rows[0].update(b=halves(x, 3).sum())
    return rows


KEPT_HOLDERS = [Record(0.5)]


def attribute_set_in_a_loop_that_python_leaves_out(x, n, m, a):
    count = n * 0
    while (count := count + 1) < 4 and False:
        KEPT_HOLDERS[0].value = x.sum()
    return n


def next_whose_condition_counts(self, x, n, m, a):
    return next((p for p in [3, 4] if self.count() + x.sum() > 3), 7) * x


def tensor_kept_that_is_another_one_on_one_path(x, n, m, a, held_tables):
    held_tables[0]["a"].add_(held_tables[0]["a"])
    held_tables[0]["a"] = held_tables[0]["a"] and held_tables[0]["b"]
    return held_tables


def number_appended_to_tensors(x, n, m, a, held_rows):
    if len([v for v in x if v > x[0]]):
        held_rows[0].append(sum(row[-1] for row in [[] for _ in range(2)] if row))
    return held_rows


def number_or_tensor_printed(x, n, m, a):
    t = x.detach().sum() if n > 1 else 7
    best = t if n > 0 else None
    print(t, f"{t:.2f}", "%s %.1f" % (t, t), repr(t), f"{t!s:>10}", best)
    out = [0.5]
    for v in x.detach():
        out.append(v)
    for v in out:
        print(v)
    try:
        assert n > 1, f"{t} {best}"
    except AssertionError as error:
        print(error)
    return t


def entries_that_nobody_reads(x, n, m, a):
    tables = [{"a": v, "b": a.mean()} for v in x]
    tables[0] = {"a": x[0], "b": x.mean()}
    return tables


def entries_deleted_in_a_loop(self, x, n, m, a):
    self.items = [self.h, x.mean()]
    for v in x:
        self.items.append(v)
        del self.items[:1]
    return x


KEPT_box = Record(None)


def settled_by_recursion(x, n, m, a):
    def visit(x, n, depth, holder, number=1):
        if depth <= 0:
            return number
        number = visit(x, n, depth - 1, holder, number=holder.count)
        visit(KEPT_box.value, n, depth - 1, holder, number=KEPT_box.count)
        KEPT_box.value = KEPT_box.value.tanh()

    KEPT_box.value = x
    visit(x, n, n % 3, Record(x[-1], 1), number=1)


def none_and_texts_among_numbers(x, n, m, a):
    places = [i for i, v in enumerate(x) if v > 0]
    there = None in places or "a" in places or places.count(None) > 0
    if n > 1:
        places.remove(None)
    return there, "a" not in places


def truth_of_none_or_an_empty_list(x, n, m, a):
    return 1 if (None if n else []) else x


def iterator_over_a_list_of_dynamic_length_kept(x, n, m, a):
    pairs = zip([1, 2], collected(x, 0), strict=False)
    collected(x, 1)
    return x


class ResultOfRecursionKeptTwice(Net):
    def forward(self, x, n, m, a):
        self.seen = [x, x]
        half = halves(x, n)

        def visit(v, depth=2):
            if depth <= 0 or n:
                return v
            self.seen.append(half)
            return visit(x, depth - 1)

        visit(half)


def surroundings():
    kept_table = {"a": 0.5}

    def scaled_entries():
        return {k: v * kept_table["a"] for k, v in kept_table.items()}

    def replaced():
        nonlocal kept_table
        kept_table = scaled_entries()

    def entry_set_to_what_replaces_the_dict(x, n, m, a):
        kept_table["b"] = x
        kept_table["a"] = replaced()
        kept_table["a"] = 0.5

    return entry_set_to_what_replaces_the_dict


def loop_over_lists_of_other_lengths(x, n, m, a):
    def doubled(items):
        count = 0
        while count < 3 and x.sum() < 4:
            items = [v * 2 for v in items]
            count += 1
        return items

    return doubled([x, x + 1]), doubled([x]), doubled([]), doubled([a, a, a])


def one_tensor_kept_by_recursion_in_two_calls(self, x, n, m, a):
    def keep(depth):
        if depth > 0:
            if n > 1:
                self.holder.value = x.mean()
            self.items.append(self.holder.value)  # also what the call before kept
            keep(depth - 1)

    keep(m[0] % 4)
    return x

class ParameterOfSeveralReplaced(Net):
    def forward(self, x, n, m, a):
        self.h = self.gains[n % 2]
        self.h = x
        return x


def tensor_or_truth_matched(x, n, m, a):
    box = Record(1)
    match (x[0] >= 1.0 or not paddle.to_tensor(0.5) <= a.mean(), n):
        case [True, 0 | 1]:
            pass
        case [_, p]:
            box.count = p % 5
    return box


def class_of_a_tensor_or_a_truth(x, n, m, a):
    y = x[0] >= 1.0 or not paddle.to_tensor(0.5) <= a.mean()
    z = x[0] >= 1.0 and bool(n > 0)
    return isinstance(y, bool), isinstance(z, bool), y, z


def division_by_zero_before_an_attribute_of_a_number(x, n, m, a):
    return (sum(row[-1] for row in [[] for _ in range(2)] if row) * (1 // (len(m) // n))).tanh()


PROGRAMS = [
    value_or_none_printed, assertion_whose_message_fails, assertion_whose_message_computes, body_that_raises,
    body_that_raises_in_the_end, body_that_raises_in_a_branch, attribute_of_what_a_method_changes, none_or_undefined_or_tensor,
    none_returned_in_an_inner_branch, none_or_number_returned, none_or_entry_returned, none_in_a_loop,
    method_and_attribute_in_a_loop, index_error_in_a_branch_not_taken, index_error_in_each_iteration, empty_list_on_one_path,
    list_on_one_path, nested_containers_on_one_path, lists_on_two_of_three_paths, list_that_a_loop_makes,
    list_on_one_path_grown_on_it,
    object_of_a_loop_with_break,
    tuple_of_a_loop_with_break,
    returned_by_a_function_inside,
    lists_of_branches_in_a_loop,
    list_of_an_inner_loop_returned,
    power_that_nobody_uses,
    lists_of_three_lengths,
    lists_of_three_lengths_in_tuples,
    operand_that_raises,
    method_called_like_one_of_a_dict,
    raise_in_place_of_another,
    both_branches_raise_texts,
    raise_behind_what_may_raise,
    loop_whose_test_may_raise,
    list_set_to_another_shape,
    list_copied_on_one_path_grown_on_the_other,
    entry_of_an_argument_replaced_and_changed,
    finally_that_reads_what_else_sets,
    list_put_into_a_global_changed_elsewhere,
    item_set_of_a_global_number_in_a_handler,
    entry_changed_by_what_a_recursive_call_gives,
    attribute_set_in_a_loop_that_python_leaves_out,
    next_whose_condition_counts,
    tensor_kept_that_is_another_one_on_one_path,
    number_appended_to_tensors,
    number_or_tensor_printed,
    entries_that_nobody_reads,
    entries_deleted_in_a_loop,
    settled_by_recursion,
    none_and_texts_among_numbers,
    truth_of_none_or_an_empty_list,
    iterator_over_a_list_of_dynamic_length_kept,
    ResultOfRecursionKeptTwice,
    loop_over_lists_of_other_lengths,
    one_tensor_kept_by_recursion_in_two_calls,
    ParameterOfSeveralReplaced,
    tensor_or_truth_matched,
    class_of_a_tensor_or_a_truth,
    division_by_zero_before_an_attribute_of_a_number,
    surroundings(),
]  # fmt: skip
