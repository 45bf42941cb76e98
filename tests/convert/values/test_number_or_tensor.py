"""What Python and the API do otherwise with a number than with a tensor, of values that are the one or the other."""

import linecache
import math

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st as paddle
from dy2st import jit
from dy2st.errors import Dy2stError

KINDS = {
    "int64 or int": "k if k > 1 else 7",
    "float32 or float": "k * 0.5 if k > 1 else 3.5",
    "int64 or bool": "k if k > 1 else True",
    "bool or bool of Python": "k > 2 if k > 1 else True",
    "int64 or int or float": "k if k > 1 else (7 if k < 1 else 0.5)",
    "int or float": "2 if k > 1 else 0.5",
    "int or bool": "7 if k > 1 else True",
}
QUESTIONS = """
round(v)
round(v / 2)
round(v, 1)
divmod(v, 2)
divmod(7, v)
divmod(v, v)
pow(v, 2, 3)
math.trunc(v)
math.floor(v)
[1] * v
(1, 2) * v
[1] + v
+v
-v
~v
paddle.where(v > 0, x, -x)
[1, 0].index(v)
"ab" % v
""".strip().splitlines()
# these have an answer, rather than a refusal, for a number of one class or a tensor
ANSWERED = {"round(v)", "divmod(v, 2)", "divmod(v, v)", "math.floor(v)", "paddle.where(v > 0, x, -x)", "[1, 0].index(v)"}
OF_ONE_CLASS = [*KINDS][:4]


def asked(question, value):
    text = f"def f(k, x):\n    v = {value}\n    return {question}\n"
    name = f"<{question} of {value}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"math": math, "paddle": paddle}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def outcome(f, k):
    try:
        found = f(paddle.to_tensor(k), paddle.to_tensor([1.5, -2.0]))
    except Dy2stError as error:
        return "refused", error.message
    except Exception as error:
        return type(error), ""
    parts = found if isinstance(found, (list, tuple)) else [found]
    # a number that is a tensor elsewhere has the digits of that
    return type(found), [(type(x), np.round(np.asarray(x, np.float64), 6).tolist() if not isinstance(x, str) else x) for x in parts]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_each_run_does_what_eager_mode_does(question, kind):
    f = asked(question, KINDS[kind])
    static = jit.to_static(f)
    with config.NO_JIT.override(True):
        found = [outcome(static, k) for k in (3, 2, 1, 0)]
    wanted = [outcome(f, k) for k in (3, 2, 1, 0)]
    may_refuse = question not in ANSWERED or kind not in OF_ONE_CLASS
    for a, b in zip(found, wanted, strict=True):
        assert a == b or (may_refuse and a[0] == "refused")
