"""What libraries and NumPy ask for."""

import datetime
import itertools
import json
import math
import operator
import re
import statistics
import struct
from collections import Counter

import numpy as np

from dy2st.tensor.random import get_rng_state, rand, set_rng_state


def sliced_to_a_tensor(x, n):
    return sum(itertools.islice([x, x, x], int(n)))  # error: itertools.islice() needs numbers of Python, and is given what is only


def text_that_is_matched(x, n):
    return x if re.match("1|2", str(int(n))) else -x  # error: re.match() looks at a number, a tensor or a text that is only known


def state_of_the_generator(x):
    state = get_rng_state()  # error: the state of the random generator is only known when the program runs
    y = rand([2])
    set_rng_state(state)
    return x + y


def narrow_float_of_numpy(x):
    return x * (float(x[0]) * np.float32(0.1))  # error: a Python number that only the run knows beside a float32 of NumPy


def narrow_float_of_numpy_computed(x):
    k = np.float32(0.3)
    if x.sum() > 0:
        k = np.float32(0.1)
    return x * (k * 0.5)  # error: a value is one of several objects (np.float32(0.1), np.float32(0.3)), as a condition on tensors decides


def narrow_float_or_a_number(x):
    k = 0.3
    if x.sum() > 0:  # error: 'k' is float32 np.float32(0.1) on the path where the condition is true and a Python float 0.3
        k = np.float32(0.1)
    return x * k


def int_or_float_rounded(x):
    k = 2
    if x.sum() > 0:
        k = 2.25
    return x * round(k, 1)  # error: 'k' is a Python float on one path and a Python int on the other


def mean_of_statistics(x):
    return x * statistics.mean([float(x[0]), float(x[1])])  # error: statistics.mean() needs numbers of Python, and is given what is


def packed(x):
    return x * len(struct.pack("f", float(x[0])))  # error: struct.pack() needs numbers of Python, and is given what is only known


def written_as_json(x):
    return x * len(json.dumps({"loss": float(x[0])}))  # error: json.dumps() needs numbers of Python, and is given what is only known


def numpy_of_staged(x):
    y = x * 2
    return y.numpy()  # error: .numpy() needs the value of a tensor


def function_of_numpy(x):
    return x + np.exp(x * 2)  # error: np.exp() needs the value of a tensor (float32[


def joined_by_numpy(x):
    return np.concatenate([x, x])  # error: np.concatenate() needs the value of a tensor (float32[


def number_of_a_text(x):
    return x * float(f"{x.mean().item():.2f}")  # error: a text with the values of tensors in it is only known


def text_that_ends_with_a_number(x):
    i = int(x.argmax())
    return [name for name in ("w.0", "w.1") if name.endswith(f".{i}")]  # error: a text with the values of tensors in it is only known


def number_in_a_text(x):
    return str(int(x.argmax())) in "123"  # error: a text with the values of tensors in it is only known when the program runs


def text_that_a_number_is_replaced_in(x):
    return "item 1 of 2".replace(str(int(x.argmax())), "N")  # error: a text with the values of tensors in it is only known when


def method_of_all_texts(x):
    return str.upper(str(int(x.argmax())))  # error: a text with the values of tensors in it is only known when the program runs


def date_of_a_text(x):
    return x * datetime.date.fromisoformat(f"2020-01-0{int(x.argmax())}").day  # error: a text with the values of tensors in it is


def texts_put_together(x):
    return operator.concat("a", str(int(x.argmax())))  # error: a text with the values of tensors in it is only known when the


def bytes_of_a_number(x):
    try:
        return x * len(bytes(int(x.argmax())))  # error: bytes() needs numbers of Python, and is given what is only known when
    except Exception:
        return x


def power_of_two_by_a_number(x):
    return x * math.ldexp(1.5, int(x.argmax()))  # error: math.ldexp() needs numbers of Python, and is given what is only known


def array_filled_with_a_number(x):
    a = np.zeros(2)
    try:
        a.fill(float(x[0]))  # error: numpy.fill() needs numbers of Python, and is given what is only known when the program runs
    except ValueError:
        return x
    return x * float(a[0])


def most_common_of_a_counter_of_the_run(x):
    counts = Counter()
    for v in x:
        if v > 1:
            counts["large"] += 1
    return counts.most_common(1)  # error: most_common() of a dict that has some of its keys only in some runs
