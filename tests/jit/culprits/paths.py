"""Values that differ on two paths."""

import collections
import datetime
import time
import uuid

import dy2st as paddle
from dy2st.tensor.manipulation import concat
from dy2st.tensor.search import one_hot

from .things import STATES, Held, Other


def dtypes_differ(x):
    y = x
    if x.sum() > 0:  # error: 'y' has dtype int64 on one path and float32 on the other
        y = x.astype("int64")
    return y


def ranks_differ(x):
    if x.sum() > 0:  # error: 'y' has 1 dims on one path and 2 on the other
        y = x
    else:
        y = x.reshape([1, -1])
    return y


def structures_differ(x):
    if x.sum() > 0:  # error: 'y' is tuple of 2 on the path where the condition is true and tuple of 3
        y = (x, x)
    else:
        y = (x, x, x)
    return y


def objects_differ(x):
    if x.sum() > 0:  # error: 'held' is Held of 1 on the path where the condition is true and Other of 1 on the path where it is false
        held = Held(x)
    else:
        held = Other(x * 2)
    return held.x


def object_that_gets_an_attribute_in_an_inner_loop(x, n):
    held = Held(x.sum())
    for v in x[:n]:  # error: 'held' is Held of
        for w in x:
            if w > v:
                held.more = x.max()
                break
        held = Held(x.min())
    return held.x


def dict_with_some_keys_on_one_path(x):
    if x.sum() > 0:  # error: a dict that has some of its keys only in some runs is made on one path only
        found = {"all": x}
        if x.max() > 0:
            found["more"] = x * 2
    return found["all"]


def choice_of_a_number_or_a_tensor(x):
    s = 0
    if x.sum() > 0:
        s = x.sum()
    return paddle.where(x > 0, s, s)  # error: 's' is float32[] on one path and a Python int on the other


def ordered_dict_in_an_order_of_the_run(x):
    d = collections.OrderedDict(a=x, b=x * 2)
    if x.sum() > 0:  # error: the order of the keys of a OrderedDict depends on a condition on tensors
        d.move_to_end("a")
    return next(iter(d.values()))


def keys_in_another_order_on_each_path(x):
    if x.sum() > 0:  # error: 'd' has its keys in the order 'a', 'b' on the path where the condition is true and 'b', 'a' on the path where
        d = {"a": x, "b": x * 2}
    else:
        d = {"b": x, "a": x * 2}
    return next(iter(d.values()))


def keys_in_another_order_in_each_iteration(x, n):
    d = {"a": x.sum(), "b": x.max()}
    for _ in x[:n]:  # error: 'd' has its keys in the order 'a', 'b' on entering the loop and 'b', 'a' on the next iteration
        d = {"b": d["a"], "a": d["b"]}
    return next(iter(d.values()))


class _Settings:
    pass


def attributes_in_another_order_on_each_path(x):
    if x.sum() > 0:  # error: 's' has its attributes in the order 'low', 'high' on the path where the condition is true and 'high', 'low'
        s = _Settings()
        s.low, s.high = x, x * 2
    else:
        s = _Settings()
        s.high, s.low = x, x * 2
    return list(vars(s).values())


def attribute_of_a_function_on_one_path(x):
    def helper():
        return x

    if x.sum() > 0:  # error: a function gets or loses the attribute 'late' under a condition on tensors
        helper.late = 1
    return helper()


def attributes_listed(x):
    held = Held(x)
    if x.sum() > 0:
        held.y = x
    return len(vars(held))  # error: which attributes a Held has is only known when the program runs: it has 'y' on some paths


def one_of_two_objects_changed(x):
    held = other = Held(x)
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one, as only the run knows
        held = Held(x * 2)
    held.x = held.x + 1
    return other.x


def number_or_text(x):
    if x.sum() > 0:  # error: 'scale' is a Python int 2 on the path where the condition is true and str 'half'
        scale = 2
    else:
        scale = "half"
    return x if scale == "half" else x * scale


def text_in_a_set(x):
    mode = "a" if x.sum() > 0 else "b"
    return x * len({mode, "c"})  # error: a value is one of several objects ('a', 'b'), as a condition on tensors


def object_of_a_path_printed(x):
    held = STATES[0] if x.sum() > 0 else STATES[1]
    print(f"it is {held}")  # error: a value is one of several objects (an object of class Mode, an object of class Mode), as a
    return x


def text_that_grows_with_the_data(x, n):
    said = ""
    for v in x[:n]:  # error: a text with the values of tensors in it is only known when the program runs
        said += "+" if v > 0 else "-"
    return said


def text_of_a_path_as_a_dtype(x):
    width = "32" if x.sum() > 0 else "64"
    try:
        return x.astype("float" + width)  # error: 'the value of the expression' has dtype float32 on one path
    except TypeError:
        return x


def item_of_a_dict_that_may_be_another(x):
    one, other = {"n": 0}, {"n": 1}
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one, as only the run knows
        held = one
    else:
        held = other
    for v in x:
        held["n"] += v
        one["n"] += 1
    return held["n"]


def key_of_a_dict_that_may_be_another(x):
    one, other = {"n": 0}, {"n": 1}
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one, as only the run knows
        held = one
    else:
        held = other
    if x[0] > 0:
        held["new"] = x
    return len(one), len(other)


def loop_changes_dtype(x):
    while x.sum() < 10:  # error: 'x' has dtype float32 on one path and float64 on the other
        x = (x + 1).astype("float64")
    return x


def loop_changes_rank(x, n):
    s = x.sum()
    for v in x[:n]:  # error: 's' has 0 dims on one path and 1 on the other
        s = s + v.reshape([1])
    return s


def number_none_or_tensor(x, n):
    s = None
    for _ in range(n):  # error: 's' is None on one path, and a float32 tensor or a Python int on others
        if x.sum() > 0:
            s = x if s is None else s + x
        else:
            s = 0
    return s


def ambiguous(x):
    if x > 0:  # error: the truth value of a tensor with 2 elements is ambiguous
        return x
    return -x


def shapes(x):
    return concat([x, x.reshape([-1, 1])])  # error: concat: all tensors must have the same number of dims


def undefined_at_run_time(x):
    if x.sum() > 100:
        y = x * 2
    return y  # error: local variable 'y' is read where it has no value


def list_undefined_at_run_time(x):
    if x.sum() > 100:
        y = [x]
    return y  # error: local variable 'y' is read where it has no value


def set_only_where_it_is_read(x, n=4):
    for i in range(paddle.to_tensor(n)):
        if i > 0:
            x = x + a  # noqa: F821 # error: local variable 'a' is read where it has no value
            a = x  # noqa: F841
    return x


def never_defined(x):
    if x is None:
        y = x
    return y  # error: local variable 'y' is read where it has no value


def index(x):
    for i in range(len(x) + 1):
        x = x + x[i]  # error: index 2 is out of range
    return x


def frozen_random(x):
    import random

    if x.sum() > 0:
        x = x * random.random()  # error: random.random() is drawn under a condition on tensors
    return x


def frozen_time(x):
    return x * (time.time() > 1e6)  # error: time.time() would be called once, while tracing, and give the same at each call


def frozen_date(x):
    return x * datetime.datetime.now().year  # error: datetime.now() would be called once, while tracing


def frozen_name(x):
    return x * len(uuid.uuid4().hex)  # error: uuid.uuid4() would be called once, while tracing


def mixed_kinds(x):
    if x.sum() > 0:  # error: 'y' is a tensor
        y = x
    else:
        y = "none"
    return y


def dynamic_list_elements(x, n):
    out = [x]
    for _ in range(n):
        out.append("text")  # error: all entries of 'out' must be of one structure, as only the run knows its length or order: one is a
    return out


def key_of_an_ordered_dict_on_one_path(x):
    d = collections.OrderedDict()
    if x.sum() > 0:  # error: a dict gets or loses the key 'y' under a condition on tensors
        d["y"] = x
    return x if "y" in d else x * 2


def keys_in_an_order_of_the_run(x):
    d = {}
    if x.sum() > 0:
        d["a"] = x
    d["b"] = x * 2
    d["a"] = x * 3
    return list(d.values())  # error: in which order a dict has got its keys depends on a tensor


def key_deleted_while_looping(x):
    d = {"a": x, "b": x}
    if x.sum() > 0:
        d["c"] = x
    for key in d:  # error: a dict that has some of its keys only in some runs gets or loses keys while a loop runs over it
        if key == "a":
            del d["b"]
    return d


def dict_of_the_run_compared(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    return x if d == {"a": 1} else -x  # error: a comparison of a dict that has some of its keys only in some runs


def view_of_a_dict_of_the_run_compared(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    return x if d.keys() == {"a"} else -x  # error: a comparison of keys() of a dict that has some of its keys only in some runs


def dict_of_the_run_unpacked(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    return {**d}  # error: which items a generator gives depends on a tensor, so that Python cannot iterate over it


def one_of_two_dicts_of_the_run(x):
    a, b = {}, {}
    if x.sum() > 0:
        a["k"] = x
        b["l"] = x
    c = a if x[0] > 2 else b  # error: 'the value of the expression' is a dict that has some of its keys only in some runs
    return c.get("k", x)


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return False


def caught_behind_a_manager(x):
    try:
        with Manager():
            if x.sum() > 0:
                raise ValueError("positive")  # error: a try statement cannot catch what only the run knows to be raised inside of a with
        return x
    except ValueError:
        return x * 2


def return_in_finally(x):
    try:
        if x.sum() > 0:
            raise ValueError("positive")
    finally:
        return x  # noqa: B012  # error: 'return' inside 'finally' cannot be converted


def caught_without_a_test(x, n):
    try:
        return one_hot(n, 2) * x  # error: a try statement cannot catch what only the run knows to be raised by an operation that fails
    except ValueError:
        return x


def caught_behind_a_growing_list(x, n):
    items = []
    try:
        if x.sum() < 0:  # error: a list or dict that is there before something in a try statement may raise changes its length
            raise ValueError("negative")
        for i in range(n):
            items.append(x * i)
    except ValueError:
        items.append(x)
    return items[0]


def caught_behind_a_growing_dict(x, n):
    table = {"a": x}
    try:
        if x.sum() < 0:  # error: a list or dict that is there before something in a try statement may raise changes its length or keys
            raise ValueError("negative")
        if x[0] > n:
            table["b"] = x * 2
        raise ValueError("any")
    except ValueError:
        return table.get("b", x)


def raised_list(x, n):
    items = [x * i for i in range(n)]
    if x.sum() < 0:
        raise ValueError("negative", items)  # error: an exception that is raised when the program runs cannot hold a list
    return x


def int_or_float_beside_ints(x):
    k = 2
    if x.sum() > 0:
        k = 0.5
    return x.astype("int32") * k  # error: 'k' is a Python float on one path and a Python int on the other


def int_or_float_shown(x):
    k = 2
    if x.sum() > 0:
        k = 0.5
    print(k)  # error: 'k' is a Python float on one path and a Python int on the other
    return x


def number_or_tensor_beside_ints(x, n):
    b = 2
    if n > 0:
        b = n.astype("float32")
    return x.astype("int32") * b  # error: 'b' is float32[] on one path and a Python int on the other


def int_or_float_asked(x):
    k = 2
    if x.sum() > 0:
        k = 0.5
    return x if isinstance(k, int) else -x  # error: 'k' is a Python float on one path and a Python int on the other


def number_rounded(x):
    k = 0.1
    if x.sum() > 0:
        k = x.sum()
    return x.astype("float64") * k  # error: 'k' is float32[] on one path and a Python float on the other


def int_grows(x, n):
    k = 3
    while k < 4:
        k = (k + n * 0) * 10
    k = int(k)
    for _ in range(n * 30):
        k = k * 3  # error: a Python int that depends on tensors has left the range of 64 bits
    return x + k


def int_of_many_bits(x, n):
    k = 2**70
    if x.sum() > n:  # error: 1180591620717411303423 is out of range for int64
        k = k - 1
    return k % 7 + x


def int_to_negative_power(x, n):
    return x * 2 ** int(-n)  # error: 2 ** -2 is a float


def list_that_its_own_loop_grows(x):
    todo = [x, x * 2]
    for v in todo:  # error: the list over which the loop runs changes under a condition on tensors
        if v.sum() > 100:
            todo.append(v / 2)
    return todo


def none_in_a_list_of_dynamic_length(x):
    items = [v for v in x if v > -100]
    items[0] = 1 if x.sum() > 0 else None  # error: a list that changes in a staged loop can hold tensors and numbers, not what is None
    return items


def vector_counted_in_a_list(x, n):
    found = []
    for i in range(n):
        found.append(i)
    return found.count(x.reshape([2]))  # error: count() compares the entries of a list of dynamic length with a tensor of shape [2]


def great_number_among_items(x, n):
    return x * [2**70, 5, 1][n % 3]  # error: [1180591620717411303424, 5, 1] is out of range for int64


def sort_of_vectors(x, n):
    items = [x * i for i in range(n)]
    items.sort()  # error: a sort compares the entries of a list of dynamic length, which are tensors of shape
    return items


def sort_of_unlike_entries(x, n):
    return sorted([(x.sum(), x), (x[0], (x, x))], key=lambda t: t[0])  # error: all entries of a list that is sorted


def list_of_optional_lists(x, n):
    found = []
    for v in x[:n]:
        found.append([v * 2] if v > 0 else None)  # error: all entries of 'found' must be of one structure, as only the run knows its length
    return found


def list_that_a_closure_holds(x):
    def recorder():
        log = []
        return log.append, lambda: log

    if x.sum() > -100:
        add, get = recorder()
        for v in x:
            add(v)
    return len(get())  # error: a tensor that was computed inside a branch or a loop is used outside of it


def list_compared_with_a_tensor(x):
    rows = [v for v in x if v > -100]
    return rows != x  # error: a list whose length only the run knows is compared with a tensor, which compares the entries


def triangle_at_several_diagonals(x):
    m = x.reshape([1, -1])
    return paddle.tril(m, x.astype("int64"))  # error: a tensor of shape [2] cannot be reshaped to []


def index_that_is_a_tensor_on_one_path(x):
    k = 1 if x.sum() > 0 else x
    try:
        return "abc"[k]  # error: 'the value of the expression' is a Python int on one path and float32[2] on the other
    except TypeError:
        return "none"


def bound_that_is_a_float_on_one_path(x):
    k = 1 if x.sum() > 0 else 2.0
    try:
        return x[k:]  # error: 'the value of the expression' is a Python int on one path and a Python float on
    except TypeError:
        return x


def attribute_that_a_local_class_gets(x):
    class Config:
        pass

    def mark():
        Config.mark = True

    if x.sum() > 0:  # error: class 'Config' gets or loses the attribute 'mark' under a condition on tensors
        mark()
    return x * 2 if getattr(Config, "mark", False) else x


def text_of_what_holds_a_tensor_on_one_path(x):
    said = "nothing"
    if x.sum() > 0:  # error: a text with the values of tensors in it is only known when the program runs
        said = str(x.sum)
    return said


def text_of_what_holds_a_tensor_in_a_list(x):
    said = ["nothing"]
    if x.sum() > 0:  # error: a text with the values of tensors in it is only known when the program runs
        said.append(repr({"x": x.sum}))
    return said


def text_with_a_tensor_in_quotes(x):
    print([f"rows {x}"])  # error: a text with the values of tensors in it is only known when the program runs
    return x


def list_of_what_may_be_none_or_a_list_that_grows(x):
    row = x if x.sum() > 1 else None
    if x.max() > 0:  # error: a list that changes in a staged loop can hold tensors and numbers, not what is None in some runs
        rows = []
        if x.sum() > 0:
            return x
        rows.append(x)
    else:
        rows = [row]
    return rows


def attribute_of_a_tensor_or_a_number(x):
    y = x if x.sum() > 0 else 3
    y.flag = 1
    return y  # error: 'the value of the expression' is float32[2] on one path and a Python int on the other
