"""What is modified in place, and may be something else."""

from dy2st import to_tensor
from dy2st.tensor.manipulation import concat

from .things import State


def argument_perhaps_modified(x):
    h = x
    if x.sum() > 10:
        h = x * 2
    h[0] = 7  # error: what is modified in place here is on one path the same object as a tensor or list that is the caller's
    return h


def other_name_read_after(x):
    z = x + 0
    h = z if x.sum() > 0 else x * 2
    h[0] = 7  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return h * z.sum()


def modified_behind_a_loop_that_hands_on(x):
    p, q, r = x * 2, x * 3, x * 4
    for v in x:
        if v > 2:
            p = q
        elif v > 1:
            q = r
    p[0] = 7  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return r * 2


def compared_in_a_loop_that_hands_on(x, n):
    p, q = x * 2, x * 3
    for v in x[:n]:
        if p is q:  # error: whether the two are one object depends on a condition on tensors
            return x * v
        p = q
    return x


def one_object_on_one_side(x):
    y, z = x * 3, x * 4
    if x.sum() > 0:
        y = z = x * 2
    y[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return y, z


def first_iteration_modifies_the_argument(x, n):
    h = x
    for _ in range(n):
        h[0] = 9  # error: what is modified in place here is on one path the same object as a tensor or list that is
        h = h * 2
    return h


def source_modified_after(x):
    h = z = x + 0
    if x.sum() > 0:
        h = x * 2
    z[0] = 1  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return h


def last_iteration_is_read_in_the_next(x, n):
    h = x * 2
    last, s = x, x.sum()
    for _ in range(n):
        h[0] = 1  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
        s = s + last.sum()
        last = h
    return s


def entry_of_a_list_that_its_path_makes(x, n):
    state = State(x)
    if n > 0:
        state.h = x.sum() * 2
        rows = [x.sum(), state.h]
    else:
        state.h = x.max() + 1
        rows = [*[v + 0 for v in x], state.h]
    state.h.add_(x.sum())  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return rows[-1]


def entry_of_a_list_in_a_list(x, n):
    rows = [[v + 0] for v in x]
    if n > 0:
        rows = [[x.sum(), x.max() * 1]]
    rows[0][-1].add_(x.sum())  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return rows[0][-1]


def entry_of_a_list_taken_out_twice(x, n):
    rows = [[v + 0 for v in x[:n]] for _ in x]
    first, again = rows[0], rows[0]
    first[0].add_(x.sum())  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return again[0]


def text_compared(x):
    s = str(float(x.sum()))
    return x if s == "3.0" else -x  # error: a text with the values of tensors in it is only known when the program runs


def f_string_compared(x):
    s = f"sum: {x.sum()}"
    return x if len(s) > 3 else -x  # error: a text with the values of tensors in it is only known when the program runs


def list_in_some_width(x, n):
    return x, f"{[int(n)]!r:>8}"  # error: a text with the values of tensors in it is only known when the program runs


class Shown(State):
    def __repr__(self):
        return f"<{self.h}>"


def object_in_some_width(x):
    row = "%-12s|"
    return x, row % Shown(x.sum())  # error: a text with the values of tensors in it is only known when the program runs


def list_in_the_width_of_a_template(x, n):
    return x, "{0} {0!s:>8}".format([int(n)])  # error: a text with the values of tensors in it is only known when the program


def width_of_the_run(x, n):
    return x, f"{1.5:>{n}.2f}"  # error: a text with the values of tensors in it is only known when the program runs


def width_of_the_run_of_a_template(x, n):
    return x, "{:>{w}}".format(7, w=int(n))  # error: a text with the values of tensors in it is only known when the program


def width_of_the_run_asked_of_format(x, n):
    return x, format(7, f">{n}")  # error: a text with the values of tensors in it is only known when the program runs


def width_of_the_run_as_a_star(x, n):
    template = "%*d"
    return x, template % (int(n), 7)  # error: the width '*' is not supported in a text with tensors


def joined_text_compared(x):
    s = ", ".join(["a", str(x.sum())]) + "!"
    return x if s.startswith("a") else -x  # error: a text with the values of tensors in it is only known when the program


def index_of_a_tensor_that_may_be_none(x, n):
    place = 0 if n > 1 else None
    return x[place]  # error: an index of a tensor is None in some runs, which adds an axis


def number_as_a_key(x):
    return x * {3: 1.0}.pop(int(x.sum()), 2.0)  # error: hash() (a lookup in a dict or set) needs the value of a tensor


def new_key_of_a_number(x, n):
    d = {0: x, 1: x}
    d[int(n) + 5] = x * 2  # error: a dict may get a key here that only the run knows
    return d[0]


def items_of_two_dtypes(x, n):
    return [x, x.astype("int64")][n]  # error: 'the item' has dtype float32 on one path and int64 on the other


def item_read_before_a_change(x, n):
    rows = [[x], [x * 2]]
    row = rows[n]  # error: a list, dict or object is changed in place after this, which is one or another one
    rows[0][0] = x * 3
    return row[0]


def item_in_a_list_before_a_change(x, n):
    rows = [[x], [x * 2]]
    held = [rows[n]]  # error: a list, dict or object is changed in place after this, which is one or another one
    rows[0][0] = x * 3
    return held[0][0]


def item_of_an_item_before_a_change(x, n):
    rows = [[[x]], [[x * 2]]]
    row = max(rows[n], key=len)  # error: a list, dict or object is changed in place after this, which is one or another one
    rows[0][0].append(x * 3)
    return row[-1]


def item_for_a_function_that_keeps_it(x, n):
    def len(row):
        held.append(row)
        return 1

    rows, held = [[x], [x * 2]], []
    size = len(rows[n])  # error: a list, dict or object is changed in place after this, which is one or another one
    rows[0][0] = x * 3
    return held[0][0] * size


def item_whose_entries_change_it(x, n):
    class Entry:
        def __radd__(self, total):
            if len(rows[0]) < 3:
                rows[0].append(Entry())
            return total + 1

    rows = [[Entry(), Entry()], [Entry(), Entry()]]
    return x * sum(rows[n])  # error: a list, dict or object is changed in place after this, which is one or another one


def item_beside_a_change(x, n):
    rows = [[1], [2]]
    return max(rows[n], [rows[0].append(3)] and [0])[0]  # error: a list, dict or object is changed in place after this, which is one or


def item_modified_in_place(x, n):
    a = [x * 1, x * 2]
    a[n].add_(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return a[0]


def number_in_a_set(x):
    return x * len({int(x.sum()), 3})  # error: hash() (a lookup in a dict or set) needs the value of a tensor


def root_of_a_negative_number(x):
    v = float(-x.sum())
    return x * v**0.5  # error: -3.0 ** 0.5 is a complex number


def list_that_may_be_another(x, n):
    a = [x]
    b = a
    for i in range(n):
        a = a + [x * i]  # noqa: RUF005
    b.append(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return a


def appended_and_modified(x, n):
    v = x * 2
    items = [x]
    for _ in range(n):
        items.append(v)
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return concat(items)


def entry_of_a_list_on_either_side_modified(x):
    v = x * 1
    items = [v, v] if x.sum() > 0 else [v]
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return items


def entry_of_a_list_of_a_loop_modified(x, n):
    v = x * 1
    items = [v]
    for _ in range(n):
        items = [v, v]
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return items


def entry_of_two_lists_modified(x, n):
    v = x * 1
    if n > 1:
        a, b = [v], [v, x]
    else:
        a, b = [v, v], [v]
    a[0][0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return b


def list_of_one_path_under_two_names(x, n):
    if n > 1:
        a = b = [x]
    else:
        a, b = [x, x], [x, x, x]
    a.append(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return b


def entry_modified(x, n):
    items = [x * i for i in range(n)]
    v = items[0]
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return concat(items)


def entry_of_a_copy_modified(x, n):
    items = [x * i for i in range(n)]
    v = items[:1][0]
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return concat(items)


def perhaps_one_object(x):
    y = x * 1
    h = y if x.sum() > 0 else y * 2
    return x if h is y else -x  # error: whether the two are one object depends on a condition on tensors


def truth_of_rows(x):
    return x if any(x.reshape([-1, 1])) else -x  # error: any() of a tensor with 2 dims asks for the truth of its rows


def text_cut_to_length(x, n):
    raise ValueError("{:>4}".format(f"{int(n)} {x[0]}"))  # error: a text with the values of tensors in it is only known


def text_of_a_dynamic_list(x, n):
    items = [x * i for i in range(n)]
    raise ValueError(f"{items}")  # error: the text of a list of dynamic length is only known when the program runs


ITEMS = [to_tensor(1.0)]


def list_outside_that_a_path_empties(x):
    items = ITEMS
    if x.sum() > 0:
        items = []
    else:
        items.clear()
    items.append(x.sum())  # error: what is modified in place here is on one path the same object as a tensor or list that is kept after
    return x * len(items)


def entry_modified_perhaps_and_the_list_copied(x, n):
    first = x + 1
    parts = [first, x * 7]
    if n == 1:
        first[0] = 9.0  # error: what is modified in place here is on one path the same object as a tensor or list that is used
    else:
        parts.append(x)
    parts = list(parts)
    return parts[0] * 1


def entry_modified_perhaps_and_the_list_sorted(x, n):
    first = x + 1
    parts = [first, x * 7]
    if n == 1:
        first[0] = 9.0  # error: what is modified in place here is on one path the same object as a tensor or list that is used
    else:
        parts.append(x)
    return sorted(parts, key=lambda v: v.sum())[0] * 1
