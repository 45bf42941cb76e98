"""What is outside: iterators, files, processes, the environment."""

import atexit
import contextlib
import contextvars
import hashlib
import io
import os
import pathlib
import queue
import subprocess
import traceback

import numpy as np

import dy2st

from .things import COUNTS

POSITIONS = iter(range(100))
KEYED = {dy2st.to_tensor([1.0, 2.0]): 3}


def tensor_looked_up_among_tensors_from_outside(x):
    return x * KEYED.get(x, 2)  # error: a tensor is looked up in a dict that has tensors from outside of the function as keys


def sum_of_the_outside(x):
    return x * sum(POSITIONS)  # error: a range_iterator that is there before the call would be advanced once


def largest_of_the_outside(x):
    return x * max(POSITIONS)  # error: a range_iterator that is there before the call would be advanced once


def iterator_of_the_outside(x):
    return x * next(POSITIONS)  # error: a range_iterator that is there before the call would be advanced once


def loop_over_an_iterator_of_the_outside(x):
    for k in POSITIONS:  # error: a range_iterator that is there before the call would be advanced once
        x = x * k
    return x


def iterator_in_a_loop(x, n):
    rates = iter([1.0, 2.0, 3.0])
    for _ in range(n):
        x = x * next(rates)  # error: a list_iterator is advanced in a branch or a loop that depends on a tensor
    return x


def list_beside_a_tensor_grown(x):
    rates = [1.0, 2.0]
    for v, rate in zip(x, rates, strict=False):  # error: the list over which the loop runs changes under a condition on tensors
        rates.append(v * rate)
    return rates


def iterator_beside_a_tensor_whose_list_changes(x):
    rates, out = [1.0, 2.0], 0.0
    for v, rate in zip(x, iter(rates), strict=False):  # error: the list over which the loop runs changes under a condition
        out = out + v * rate
        rates[-1] = 5.0
    return out


def put_into_a_simple_queue(x):
    SIMPLE_QUEUE.put(1)  # error: put() of a SimpleQueue would be done once, while tracing, and not at each call
    return x * SIMPLE_QUEUE.qsize()


def variable_of_a_context(x):
    return x * CONTEXT.get()  # error: get() of a ContextVar would be done once, while tracing, and not at each call


def environment_changed(x):
    os.environ["CULPRIT_OF_TESTS"] = "1"  # error: a change of the entries of a Environ would be done once
    return x


def memory_changed(x):
    MEMORY[0] = 3  # error: a change of the entries of a memoryview would be done once, while tracing
    return x * MEMORY[0]


def file_written(x):
    with open(os.devnull, "w") as file:  # error: open('/dev/null', 'w') would be done once, while tracing, and not at each call
        file.write("a")
    return x


def file_printed_to(x):
    print("a", file=FILE)  # error: write() of a TextIOWrapper would be done once, while tracing, and not at each call
    return x


def file_that_is_open_read(x):
    return x + len(FILE.readline())  # error: a TextIOWrapper that is there before the call would be advanced once, while


def array_read_from_an_open_file(x):
    return x + len(np.fromfile(BINARY))  # error: fromfile() of a file that is open already would be done once, while tracing


def array_saved(x):
    np.savetxt(os.devnull, np.ones(2))  # error: numpy.savetxt() would be done once, while tracing, and not at each call
    return x


def file_touched(x):
    pathlib.Path(os.devnull).touch()  # error: pathlib.Path.touch() would be done once, while tracing, and not at each call
    return x


def process_started(x):
    subprocess.run(["true"])  # error: subprocess.run() would be done once, while tracing, and not at each call
    return x


def folder_changed(x):
    os.chdir(os.curdir)  # error: os.chdir() would be done once, while tracing, and not at each call
    return x


def tensor_printed_elsewhere(x):
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        print(x)  # error: print() of a tensor to a file, or where the output is redirected, is not supported while tracing
    return x * len(shown.getvalue())


def text_printed_elsewhere(x):
    shown = io.StringIO()
    print("sum", f"{float(x.sum()):.1f}", file=shown)  # error: print() of a tensor to a file, or where the output is redirected, is not
    return x * len(shown.getvalue())


def separator_printed_elsewhere(x):
    shown = io.StringIO()
    print(1, 2, sep=f"{float(x.sum()):.1f}", file=shown)  # error: print() of a tensor to a file, or where the output is redirected
    return x * len(shown.getvalue())


def lines_that_run_shown(x):
    try:
        raise ValueError
    except ValueError:
        traceback.print_exc()  # error: traceback.print_exc() shows the lines of the program, which are not those that run
    return x


def lines_that_run_in_a_text(x):
    try:
        if x.sum() > 0:
            raise ValueError
    except ValueError:
        print(traceback.format_exc())  # error: traceback.format_exc() shows the lines of the program, which are not those that run
    return x


def text_of_a_library_in_quotes(x):
    try:
        if x.sum() > 0:
            raise ValueError(f"{float(x.sum())}")
    except ValueError as error:
        print(traceback.format_exception_only(error))  # error: a text with the values of tensors in it is only known when the program runs
    return x


def hashed(x):
    HASH.update(b"a")  # error: update() of a HASH would be done once, while tracing, and not at each call
    return x * HASH.digest()[0]


FILE, BINARY = open(os.devnull, "r+"), open(os.devnull, "rb")  # noqa: SIM115
atexit.register(FILE.close)
atexit.register(BINARY.close)
SIMPLE_QUEUE, CONTEXT, MEMORY, HASH = queue.SimpleQueue(), contextvars.ContextVar("c", default=1), memoryview(bytearray(2)), hashlib.md5()


class First:
    def __init__(self, k):
        self.k = k


class Second(First):
    pass


FIRST = First(2.0)


def class_of_an_object_outside_exchanged(x):
    class Third(First):
        pass

    FIRST.__class__ = Third  # error: the class of an object of class
    return x


def dict_of_an_object_outside_exchanged(x):
    FIRST.__dict__ = {"k": 3.0}  # error: the dict of an object of class
    return x * FIRST.k


def dict_exchanged_by_name(x):
    for name in ("k", "__dict__"):
        setattr(FIRST, name, {"k": 3.0})  # error: the dict of an object of class
    return x


def bases_of_a_class_exchanged(x):
    Second.__bases__ = (First,)  # error: the bases of class Second would be exchanged once, while tracing, and not by each call
    return x


def contents_of_a_cell_exchanged(x):
    COUNTS.__closure__[0].cell_contents = [5]  # error: the contents of an object of class cell would be exchanged once, while tracing
    return x * COUNTS()[0]


def class_on_one_path(x):
    made = First(2.0)
    if x.sum() > 0:
        made.__class__ = Second  # error: of which class an object is, here First on one path, is only known when the program runs
    return x * made.k
