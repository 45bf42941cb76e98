"""A model file gives all tensors of the result, whatever they are: arguments as they have become, and tensors of the outside."""

import numpy as np
import pytest

import dy2st
from dy2st import jit, nn
from dy2st.jit import InputSpec
from dy2st.tensor import Tensor

TABLE = dy2st.to_tensor([[1.0, 0.0], [0.5, 0.5]])
VECTOR = [InputSpec([None], "float32")]


def saved(path, layer, spec=VECTOR, **options):
    jit.save(layer, path / "net", spec, **options)
    return jit.load(path / "net")


def assert_same(found, expected):
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-6)


def test_an_argument_that_is_changed_in_place_has_its_new_value(tmp_path):
    def clamped(x):
        y = x
        y.clip_(0.0, 2.0)
        if y.sum() > 2:
            y[0] = 9.0
        return {"x": x, "double": x * 2, "again": [y]}

    loaded = saved(tmp_path, clamped)
    assert_same(loaded(Tensor([-1.0, 1.5])), [[0, 1.5], [0, 3], [0, 1.5]])
    assert_same(loaded(Tensor([1.0, -1.0, 3.0])), [[9, 0, 2], [18, 0, 4], [9, 0, 2]])
    outer = jit.to_static(lambda x: loaded(x))
    assert_same(outer(Tensor([1.0, -1.0, 3.0])), [[9, 0, 2], [18, 0, 4], [9, 0, 2]])


class Tied(nn.Layer):
    """Gives its weight, a tensor of the module, and a counter that it has counted up."""

    def __init__(self):
        super().__init__()
        self.fc, self.shift = nn.Linear(2, 2), dy2st.to_tensor([1.0, 2.0])
        self.register_buffer("steps", dy2st.to_tensor(4))

    def forward(self, x):
        self.steps.add_(dy2st.ones([], "int64"))
        return self.fc(x), self.fc.weight, (TABLE, [self.shift]), self.steps


def test_tensors_of_the_outside_are_in_a_file(tmp_path):
    net = jit.to_static(Tied())
    with pytest.warns(UserWarning, match="changes what the next one reads: item 'steps'"):
        loaded = saved(tmp_path, net)
    x = Tensor([1.0, 2.0])
    expected = [t.numpy() for t in (net.fc(x), net.fc.weight, TABLE, net.shift)]
    for model in (loaded, jit.to_static(lambda x: loaded(x))):
        assert_same(model(x), [*expected, 5])
    assert net.steps.item() == 4
    loaded(x)[1].sum().backward()  # through a parameter that is given as it is
    assert [p.name for p in loaded.parameters() if p.grad is not None] == [net.fc.weight.name]


def test_a_tensor_that_took_the_place_of_another_is_saved(tmp_path):
    net = jit.to_static(Tied())
    net(Tensor([1.0, 2.0]))
    net.shift = dy2st.to_tensor([7.0, 8.0])
    net.steps.set_value(np.array(10))
    with pytest.warns(UserWarning, match="changes what the next one reads"):
        found = saved(tmp_path, net, None)(Tensor([1.0, 2.0]))
    assert_same(found[3:], [[7, 8], 11])


class Mean(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", dy2st.zeros([2]))

    def forward(self, x):
        self.mean.set_value(0.5 * self.mean + x)
        return self.mean


def test_a_buffer_alone_is_a_result(tmp_path):
    with pytest.warns(UserWarning, match="changes what the next one reads"):
        loaded = saved(tmp_path, Mean(), [InputSpec([2])])
    for _ in range(2):
        assert_same(loaded(Tensor([1.0, 2.0])), [[1, 2]])


def test_positions_in_output_spec_count_tensors_of_the_outside(tmp_path):
    net = jit.to_static(Tied())
    x = Tensor([1.0, 2.0])
    results = net(x)
    for given, expected in [([1], net.fc.weight), ([results[1]], net.fc.weight), ([results[0]], results[0]), ([-3], TABLE)]:
        assert_same(saved(tmp_path, net, output_spec=given)(x), [expected.numpy()])


class Drawing(nn.Layer):
    """Draws for what nobody uses: before what is used, in a loop, in a branch, and at the end."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)

    def forward(self, x):
        dy2st.rand([3])
        aside = nn.functional.dropout(self.body(x), 0.5)
        for _ in range(x.shape[0]):
            aside = aside + dy2st.randn([2])
        if x.sum() > 2:
            aside = aside * dy2st.rand([2])
        y = nn.functional.dropout(self.body(x), 0.5)
        dy2st.rand([x.shape[0]])
        return y, aside


@pytest.mark.parametrize("folder", [False, True])
def test_draws_that_nobody_uses_stay(tmp_path, folder):
    net = Drawing()
    static = jit.to_static(lambda x: net(x)[0])
    if folder:
        static(Tensor([1.0, 2.0]))
        jit.ProgramTranslator().save_inference_model(tmp_path / "net")
        loaded = jit.load(tmp_path / "net")
    else:
        loaded = saved(tmp_path, static)
    for values in ([1.0, 2.0], [1.0, 1.0]):
        found = []
        for model in (lambda x: net(x)[0], loaded):
            dy2st.seed(3)
            found.append([model(Tensor(values)).numpy() for _ in range(3)])
        np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    # of the outputs that are listed only those draws are saved that they need
    one = saved(tmp_path / "one", net, [InputSpec([2])], output_spec=[0])
    assert [op.type for op in one.program().global_block().ops].count("dropout") == 1
