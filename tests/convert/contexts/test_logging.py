"""`logging` in a function: each call and each iteration logs what eager mode would, in order."""

import logging
import sys

import numpy as np
import pytest

import dy2st
from dy2st import Tensor, jit
from dy2st.errors import Dy2stError
from dy2st.static import InputSpec

LOGGER = logging.getLogger("tests.model")


def halved(x, n):
    for i in range(n):
        LOGGER.info("at %d: %.2f", i, x.sum())
        x = x / 2
    if x.sum() > 3:
        logging.warning("large")
        LOGGER.error(f"it is {x.sum().item():.1f}")
    else:
        LOGGER.debug("small %s, 100 %%", "a")
        LOGGER.log(35, "%(n)s", {"n": int(n)})
    sys.stdout.write(f"sum {float(x.sum()):.1f}\n")
    sys.stdout.flush()
    return x


CALLS = [([8.0, 16.0], 2), ([8.0, 16.0], 3), ([-1.0, 0.5], 1)]


def logged(f, caplog, capsys, level=logging.DEBUG):
    caplog.clear()
    with caplog.at_level(level):
        for values, n in CALLS:
            f(Tensor(np.float32(values)), Tensor(np.array(n)))
    return [(r.name, r.levelno, r.getMessage()) for r in caplog.records], capsys.readouterr().out


def test_each_run_logs(caplog, capsys):
    wanted = logged(halved, caplog, capsys)
    assert [m for _, _, m in wanted[0]][:2] == ["at 0: 24.00", "at 1: 12.00"]
    static = jit.to_static(halved)
    assert logged(static, caplog, capsys) == wanted
    assert logged(static, caplog, capsys, logging.ERROR)[0] == [r for r in wanted[0] if r[1] >= logging.ERROR]


def test_a_saved_program_logs(caplog, capsys, tmp_path):
    wanted = logged(halved, caplog, capsys)
    jit.save(jit.to_static(halved), tmp_path / "halved", [InputSpec([None], "float32"), InputSpec([], "int64")])
    assert logged(jit.load(tmp_path / "halved"), caplog, capsys) == wanted


def test_options_of_a_call_are_refused():
    @jit.to_static
    def f(x):
        LOGGER.info("here", stack_info=True)
        return x

    with pytest.raises(Dy2stError, match="a logger with stack_info is not supported") as error:
        f(dy2st.ones([1]))
    assert error.value.location.text.strip().startswith("LOGGER.info")


class Named(logging.LoggerAdapter):
    def process(self, msg, kwargs):
        return f"[{self.extra['name']}] {msg}", kwargs


NAMED, BARE = Named(LOGGER, {"name": "a"}), logging.LoggerAdapter(LOGGER, {})


def adapted(x, n):
    for i in range(n):
        NAMED.info("at %d: %.2f", i, x.sum())
        x = x / 2
    BARE.warning(f"it is {x.sum().item():.1f}")
    NAMED.log(logging.ERROR, "end")
    return x


def test_an_adapter_says_what_is_logged(caplog, capsys):
    static = jit.to_static(adapted)
    for name in ("a", "b"):
        NAMED.extra["name"] = name
        wanted = logged(adapted, caplog, capsys)
        assert wanted[0][0][2] == f"[{name}] at 0: 24.00"
        assert logged(static, caplog, capsys) == wanted


FULL = logging.LoggerAdapter(LOGGER, {"run": 1})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: LOGGER.exception("failed"), r"exception\(\) of a logger is not supported"),
        (lambda x: logging.exception("failed"), r"exception\(\) of a logger is not supported"),
        (lambda x: LOGGER.handle(LOGGER.makeRecord("a", 20, "f", 1, "text", (), None)), r"handle\(\) of a logger is not supported"),
        (lambda x: FULL.info("here"), "a logger with extra is not supported"),
    ],
)
def test_what_has_more_to_say_than_a_message_is_refused(call, text, caplog):
    def f(x):
        if x.sum() > 0:
            call(x)
        return x

    with caplog.at_level(logging.DEBUG):
        with pytest.raises(Dy2stError, match=text):
            jit.to_static(f)(dy2st.ones([1]))
        assert not caplog.records
