"""What an attribute that is missing says: whether PaddlePaddle has it, what to write instead, and what is near."""

import copy
import importlib
import operator
import pickle
import re
import subprocess
import sys
import types

import pytest

import dy2st as paddle
from dy2st import missing_names, paddle_names
from dy2st.tensor import tracebacks

NAMESPACES = sorted({name.rpartition(".")[0] for name in paddle_names.names()} - {"paddle.Tensor"})
HERE = [name for name in NAMESPACES if paddle_names.exists(name)]


@pytest.fixture
def a_missing_name(monkeypatch):
    """A name of PaddlePaddle's that is missing for certain, with what stands in its place."""

    def add(dotted, instead=None, reason=None):
        names = paddle_names.names() | {dotted}
        monkeypatch.setattr(paddle_names, "names", lambda: names)
        for table, text in ((paddle_names.INSTEAD, instead), (paddle_names.LEFT_OUT, reason)):
            if text is not None:
                monkeypatch.setitem(table, dotted, text)
        for cached in (paddle_names.remark, paddle_names.suggestion):
            cached.cache_clear()

    yield add
    for cached in (paddle_names.remark, paddle_names.suggestion):
        cached.cache_clear()


def message(module, name):
    assert not hasattr(module, name)
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert caught.value.name == name
    return str(caught.value)


class TestModules:
    def test_planned(self, a_missing_name):
        a_missing_name("paddle.nn.functional.some_loss")
        assert message(paddle.nn.functional, "some_loss") == (
            "module 'dy2st.nn.functional' has no attribute 'some_loss': PaddlePaddle has it, dy2st not yet. "
            "docs/reference/paddle-api.md lists what is missing"
        )

    def test_left_out_with_what_serves_instead(self, a_missing_name):
        a_missing_name("paddle.optimizer.Some", instead="use `paddle.optimizer.SGD`", reason="nobody uses it")
        assert message(paddle.optimizer, "Some") == (
            "module 'dy2st.optimizer' has no attribute 'Some': PaddlePaddle has it, dy2st has not: nobody uses it. "
            "Use `paddle.optimizer.SGD`. docs/reference/paddle-api.md lists what is missing"
        )

    def test_all_that_is_in_a_namespace_has_its_entry(self, a_missing_name):
        a_missing_name("paddle.static.some", instead="leave it out")
        assert paddle_names.status("paddle.static.some.inner.name") == (None, "leave it out", None)

    @pytest.mark.parametrize(
        ("dotted", "instead"),
        [
            ("paddle.nn.functional.softplus_", "Use `paddle.nn.functional.softplus`, which gives a new tensor"),
            ("paddle.numpy", "Use the method `paddle.Tensor.numpy`"),
            ("paddle.fluid.layers.SyncBatchNorm", "Use `paddle.nn.SyncBatchNorm`, its name in PaddlePaddle 2"),
        ],
    )
    def test_rules(self, a_missing_name, dotted, instead):
        a_missing_name(dotted)
        namespace, _, name = dotted.rpartition(".")
        assert instead in message(importlib.import_module(namespace.replace("paddle", "dy2st")), name)

    def test_tensors_and_framework_have_the_names_of_the_top(self, a_missing_name):
        a_missing_name("paddle.some_function")
        for module in (paddle, paddle.tensor, paddle.framework):
            assert "PaddlePaddle has it" in message(module, "some_function")
        assert "concat" in dir(paddle.tensor)
        assert "CPUPlace" in dir(paddle.framework)

    def test_a_name_that_is_in_neither_is_near_another(self):
        assert message(paddle, "zeross") == "module 'dy2st' has no attribute 'zeross'. Did you mean: 'zeros'?"
        assert message(paddle.nn, "LayerLst").endswith("Did you mean: 'LayerList'?")

    def test_a_name_that_is_elsewhere(self):
        assert message(paddle, "softplus").endswith("Did you mean: 'paddle.nn.functional.softplus'?")

    def test_a_name_that_is_near_nothing(self):
        assert message(paddle, "qqqqqq") == "module 'dy2st' has no attribute 'qqqqqq'"

    def test_what_python_asks_of_modules_reads_no_table(self, monkeypatch):
        monkeypatch.setattr(paddle_names, "names", None)
        assert message(paddle.nn, "__wrapped__") == "module 'dy2st.nn' has no attribute '__wrapped__'"

    def test_an_import_says_the_same(self, a_missing_name):
        a_missing_name("paddle.nn.SomeLayer")
        with pytest.raises(ImportError, match=r"^cannot import name 'SomeLayer' from 'dy2st.nn': PaddlePaddle has it"):
            from dy2st.nn import SomeLayer  # noqa: F401
        with pytest.raises(ImportError, match=r"^cannot import name 'nothing' from 'dy2st.nn'"):
            from dy2st.nn import nothing  # noqa: F401

    @pytest.mark.parametrize("name", [*HERE, "paddle.fluid", "paddle.fluid.layers", "paddle.fluid.dygraph", "paddle.tensor"])
    def test_every_namespace_explains(self, name):
        module = operator.attrgetter(name.replace("paddle.", "", 1))(paddle) if "." in name else paddle
        with pytest.raises(AttributeError) as caught:
            module.qqqqqq  # noqa: B018
        # without `obj` Python adds no suggestion of its own
        assert (caught.value.name, caught.value.obj) == ("qqqqqq", None)

    def test_a_static_function_goes_on_behind_the_error(self):
        @paddle.jit.to_static
        def double(x):
            try:
                return paddle.double_it(x)
            except AttributeError:
                return x * 2

        assert double(paddle.ones([2])).tolist() == [2, 2]

    def test_a_static_function_passes_the_error_on(self, a_missing_name):
        a_missing_name("paddle.some_function")

        @paddle.jit.to_static
        def call(x):
            return paddle.some_function(x)

        with pytest.raises(AttributeError, match="PaddlePaddle has it"):
            call(paddle.ones([2]))

    def test_the_second_time_nothing_is_looked_up(self, monkeypatch):
        assert not hasattr(paddle, "rellu_of_x")
        monkeypatch.setattr(paddle_names.difflib, "get_close_matches", None)
        assert not hasattr(paddle, "rellu_of_x")


def test_a_missing_module_under_the_name_of_paddle():
    code = """
import dy2st, sys
from dy2st import paddle_names
dy2st.install_as_paddle()
names = paddle_names.names() | {"paddle.some", "paddle.some.inner"}
paddle_names.names = lambda: names
try:
    import paddle.some
except ModuleNotFoundError as error:
    assert error.name == "paddle.some" and str(error).startswith("No module named 'paddle.some': PaddlePaddle has it"), error
try:
    from paddle import some
except ImportError as error:
    assert str(error).startswith("cannot import name 'some' from 'dy2st': PaddlePaddle has it"), error
try:
    import paddle.other
except ModuleNotFoundError as error:
    assert str(error) == "No module named 'paddle.other'", error
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_importing_and_computing_reads_no_table():
    code = "import sys, dy2st; dy2st.jit, dy2st.fluid, dy2st.ones([2]) + 1; assert 'dy2st.paddle_names' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_looking_it_up_asks_the_package_for_nothing():
    """A tool that replaces the import system asks packages for attributes, too: that would never end."""
    code = """
import builtins, dy2st
real = builtins.__import__
def asking(name, globals=None, locals=None, fromlist=(), level=0):
    found = real(name, globals, locals, (), level) if fromlist and level else real(name, globals, locals, fromlist, level)
    assert not (found is dy2st and fromlist and [n for n in fromlist if not hasattr(found, n)])
    return real(name, globals, locals, fromlist, level)
builtins.__import__ = asking
assert not hasattr(dy2st.nn, "qqqqqq")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


class TestTensors:
    def test_the_class_has_no_hook(self):
        assert not hasattr(paddle.Tensor, "__getattr__")  # it would make each look-up twice as slow
        x = paddle.ones([2])
        assert not hasattr(x, "some_method")
        assert pickle.loads(pickle.dumps(x)).tolist() == copy.copy(x).tolist() == [1, 1]

    def noted(self, get):
        with pytest.raises(AttributeError) as caught:
            get()
        tracebacks.note_missing_method(caught.value)
        return getattr(caught.value, "__notes__", [])

    def test_a_method_of_paddle_is_noted(self, a_missing_name):
        a_missing_name("paddle.Tensor.some_method")
        (note,) = self.noted(lambda: paddle.ones([2]).some_method)
        assert note == "PaddlePaddle has it, dy2st not yet. docs/reference/paddle-api.md lists what is missing"

    def test_the_function_of_this_name(self, a_missing_name):
        a_missing_name("paddle.Tensor.linspace")
        (note,) = self.noted(lambda: paddle.ones([2]).linspace)
        assert "Use the function `paddle.linspace`" in note

    def test_other_names_and_other_objects_have_no_note(self, a_missing_name):
        a_missing_name("paddle.Tensor.some_method")
        assert self.noted(lambda: paddle.ones([2]).qqqqqq) == []
        assert self.noted(lambda: object().some_method) == []

    @pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 prints no notes")
    def test_an_error_that_nobody_catches_shows_it(self):
        code = "import dy2st; from dy2st import paddle_names; paddle_names.names = lambda: {'paddle.Tensor.foo'}; dy2st.ones([2]).foo"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "AttributeError: 'Tensor' object has no attribute 'foo'" in done.stderr
        assert "PaddlePaddle has it, dy2st not yet." in done.stderr

    def test_a_static_function_has_it_beside_the_line(self, a_missing_name):
        a_missing_name("paddle.Tensor.some_method")

        @paddle.jit.to_static
        def call(x):
            return x.some_method()

        with pytest.raises(AttributeError) as caught:
            call(paddle.ones([2]))
        line, note = caught.value.__notes__
        assert "return x.some_method()" in line
        assert "PaddlePaddle has it" in note


class TestTables:
    def test_what_is_here_has_no_entry(self):
        """The entry of a name goes when the name comes."""
        for table in (paddle_names.LEFT_OUT, paddle_names.INSTEAD):
            for entry in table:
                inside = [name for name in paddle_names.names() if name == entry or name.startswith(f"{entry}.")]
                if not entry.startswith("paddle.fluid."):
                    assert inside, f"PaddlePaddle has no {entry}"
                assert not all(map(paddle_names.exists, inside or [entry])), f"{entry} is here: delete its entry in paddle_names.py"

    def test_what_serves_instead_is_here(self):
        for text in paddle_names.INSTEAD.values():
            for name in re.findall(r"`(paddle\.[\w.]+)`", text):
                assert paddle_names.exists(name), name

    def test_names_are_those_of_one_list(self):
        names = paddle_names.names()
        assert len(names) > 1800
        assert {"paddle.nn.functional.relu", "paddle.Tensor.abs", "paddle.vision.transforms.Resize"} <= names

    def test_existence_is_that_of_getattr(self):
        for name in paddle_names.names():
            found = paddle
            for part in name.split(".")[1:]:
                found = getattr(found, part, None) if isinstance(found, types.ModuleType) or hasattr(found, part) else None
            assert paddle_names.exists(name) == (found is not None), name


def test_the_error_is_made_for_any_module():
    error = missing_names.missing("dy2st.nn", "Lineer")
    assert type(error) is AttributeError
    assert "Linear" in str(error)
