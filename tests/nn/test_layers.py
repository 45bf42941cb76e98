import copy
import warnings
from collections import OrderedDict

import numpy as np
import pytest

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import Tensor, nn, unique_name
from dy2st.errors import AttributeValueError, DTypeError, ShapeError, StateDictError


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.blocks = nn.LayerList([nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU())])
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(2.0))
        self.register_buffer("steps", paddle.zeros([1], "int64"))
        self.register_buffer("scratch", paddle.zeros([1]), persistable=False)

    def forward(self, x):
        x = self.fc(x)
        for block in self.blocks:
            x = block(x)
        return x * self.scale


NAMES = ["scale", "fc.weight", "fc.bias", "blocks.0.weight", "blocks.0.bias", "blocks.1.0.weight", "blocks.1.0.bias"]


class TestRegistration:
    def test_names(self):
        net = Net()
        assert [n for n, _ in net.named_parameters()] == NAMES
        assert len(net.parameters()) == 7
        assert [n for n, _ in net.named_sublayers()] == [
            "fc",
            "blocks",
            "blocks.0",
            "blocks.1",
            "blocks.1.0",
            "blocks.1.1",
        ]
        assert [n for n, _ in net.named_children()] == ["fc", "blocks"]
        assert [n for n, _ in net.named_buffers()] == ["steps", "scratch"]
        assert [n for n, _ in net.named_parameters(include_sublayers=False)] == ["scale"]
        assert list(net.state_dict()) == ["scale", "steps", *NAMES[1:]]
        assert net.sublayers(include_self=True)[0] is net

    def test_unique_names(self):
        with unique_name.guard():
            a, b = nn.Linear(1, 1), nn.Linear(1, 1)
            assert (a.full_name(), b.full_name()) == ("linear_0", "linear_1")
            assert (a.weight.name, a.bias.name) == ("linear_0.w_0", "linear_0.b_0")
            assert nn.Conv2D(1, 1, 1).full_name() == "conv2d_0"
            assert nn.Layer("My Scope").full_name() == "My Scope_0"  # as given
            assert type("MyNet", (nn.Layer,), {})().full_name() == "my_net_0"

    def test_a_shared_parameter_appears_once(self):
        net = nn.Layer()
        net.a = nn.Linear(2, 2)
        net.b = net.a
        net.again = net.a.weight
        assert [n for n, _ in net.named_parameters()] == ["again", "a.bias"]

    def test_attributes(self):
        net = Net()
        net.fc = nn.Linear(2, 5)
        assert net.fc.weight.shape == [2, 5]
        net.steps = paddle.ones([1], "int64")
        assert dict(net.named_buffers())["steps"].item() == 1
        net.scale = None
        assert "scale" not in dict(net.named_parameters())
        del net.fc
        assert not hasattr(net, "fc")
        assert "blocks" in dir(net)
        net.plain = 3
        net.plain = nn.ReLU()
        assert isinstance(dict(net.named_sublayers())["plain"], nn.ReLU)

    def test_errors(self):
        net = Net()
        with pytest.raises(DTypeError, match="Parameter"):
            net.scale = 3
        with pytest.raises(DTypeError, match="Layer"):
            net.fc = 3
        with pytest.raises(DTypeError, match="Tensor"):
            net.register_buffer("x", np.zeros(1))
        with pytest.raises(DTypeError, match="Parameter"):
            net.add_parameter("x", paddle.zeros([1]))
        with pytest.raises(DTypeError, match="Layer"):
            net.add_sublayer("x", 1)
        with pytest.raises(KeyError, match="dot"):
            net.add_parameter("a.b", paddle.create_parameter([1]))
        with pytest.raises(KeyError, match="dot"):
            net.register_buffer("a.b", paddle.zeros([1]))
        with pytest.raises(KeyError, match="already"):
            net.register_buffer("forward", paddle.zeros([1]))
        with pytest.raises(AttributeError, match="no attribute 'missing'"):
            net.missing  # noqa: B018
        with pytest.raises(NotImplementedError, match="forward"):
            nn.Layer()(1)

        class Late(nn.Layer):
            def __init__(self):
                self.fc = nn.Linear(1, 1)

        with pytest.raises(AttributeError, match="super"):
            Late()

    def test_apply_and_modes(self):
        net = Net()
        seen = []
        net.apply(lambda layer: seen.append(type(layer).__name__))
        assert seen[-1] == "Net"
        assert net.eval() is net
        assert not any(layer.training for layer in net.sublayers(include_self=True))
        net.train()
        assert net.blocks[1][0].training

    def test_printing(self):
        assert repr(nn.Sequential(nn.Linear(1, 2), nn.ReLU())) == (
            "Sequential(\n  (0): Linear(in_features=1, out_features=2, dtype=float32)\n  (1): ReLU()\n)"
        )

    def test_dtypes(self):
        net = Net().to(dtype="float64")
        assert {p.dtype for p in net.parameters()} == {"float64"}
        assert net.steps.dtype == "int64"
        assert net(paddle.ones([1, 2], "float64")).dtype == "float64"

    def test_deep_copies_share_nothing(self):
        net = Net()
        other = copy.deepcopy(net)
        other.fc.weight.set_value(np.zeros((2, 3)))
        assert net.fc.weight.numpy().any()
        assert not {id(p) for p in net.parameters()} & {id(p) for p in other.parameters()}
        assert other(paddle.ones([1, 2])).shape == [1, 3]


class TestHooks:
    def test_before_and_after(self):
        layer = nn.Linear(2, 2)
        x = paddle.ones([1, 2])
        plain = layer(x).numpy()
        calls = []
        before = layer.register_forward_pre_hook(lambda layer, inputs: calls.append(len(inputs)) or (inputs[0] * 2))
        after = layer.register_forward_post_hook(lambda layer, inputs, out: out + 1)
        np.testing.assert_allclose(
            layer(x).numpy(), layer.bias.numpy() + 2 * (plain - layer.bias.numpy()) + 1, rtol=1e-6
        )
        before.remove()
        after.remove()
        before.remove()
        np.testing.assert_array_equal(layer(x).numpy(), plain)
        assert calls == [1]

    def test_a_tuple_is_all_inputs(self):
        layer = nn.PairwiseDistance()
        layer.register_forward_pre_hook(lambda layer, inputs: (inputs[0], inputs[0]))
        assert layer(paddle.ones([1, 2]), paddle.zeros([1, 2])).item() < 1e-3


class TestState:
    def test_round_trip(self, tmp_path):
        a, b = Net(), Net()
        a.steps.set_value([5])
        paddle.save(a.state_dict(), tmp_path / "net.pdparams")
        state = paddle.load(tmp_path / "net.pdparams")
        assert b.set_state_dict(state) == ([], [])
        x = paddle.ones([2, 2])
        np.testing.assert_array_equal(a(x).numpy(), b(x).numpy())
        assert b.steps.item() == 5
        assert state["fc.weight"].name == a.fc.weight.name

    def test_arrays_and_parameter_names(self):
        a, b = Net(), Net()
        b.set_state_dict({k: v.numpy() for k, v in a.state_dict().items()})
        np.testing.assert_array_equal(a.fc.weight.numpy(), b.fc.weight.numpy())
        values = {t.name: t.numpy() + 1 for t in a.state_dict().values()}
        a.set_state_dict(values, use_structured_name=False)
        np.testing.assert_array_equal(a.fc.weight.numpy(), b.fc.weight.numpy() + 1)

    def test_missing_and_unexpected_names_are_reported(self):
        net = nn.Linear(1, 1)
        with pytest.warns(UserWarning, match="state dict|layer") as caught:
            missing, unexpected = net.set_state_dict({"weight": np.zeros((1, 1)), "other": np.zeros(1)})
        assert (missing, unexpected) == (["bias"], ["other"])
        assert {str(w.message) for w in caught} == {"'bias': missing in the state dict", "'other': not in the layer"}

    def test_a_wrong_shape_changes_nothing(self):
        net = nn.Linear(1, 2)
        before = net.weight.numpy()
        with pytest.raises(StateDictError, match="'bias' has shape"):
            net.set_state_dict({"weight": np.zeros((1, 2)), "bias": np.zeros(3)})
        np.testing.assert_array_equal(net.weight.numpy(), before)

    def test_the_tensors_stay_the_same_objects(self):
        net = nn.Linear(1, 1)
        weight = net.weight
        net.set_state_dict(nn.Linear(1, 1).state_dict())
        assert net.weight is weight


class TestContainers:
    def test_sequential(self):
        s = nn.Sequential(("first", nn.Linear(1, 2)), ("second", nn.ReLU()))
        assert isinstance(s["first"], nn.Linear)
        assert isinstance(s[-1], nn.ReLU)
        assert len(s[1:]) == 1
        s.append(nn.Linear(2, 1))
        assert [type(x).__name__ for x in s] == ["Linear", "ReLU", "Linear"]
        s["second"] = nn.Tanh()
        assert isinstance(s[1], nn.Tanh)
        del s[0]
        assert len(s) == 2
        assert len(nn.Sequential([nn.ReLU(), nn.ReLU()])) == 2

    def test_layer_list(self):
        items = nn.LayerList([nn.Linear(1, i) for i in (1, 2, 3)])
        assert items[-1].weight.shape == [1, 3]
        items.insert(0, nn.ReLU())
        items[1] = nn.Tanh()
        del items[2]
        items.extend([nn.ReLU()])
        assert [type(x).__name__ for x in items] == ["ReLU", "Tanh", "Linear", "ReLU"]
        assert len(items[1:3]) == 2
        with pytest.raises(IndexError, match="LayerList of 4"):
            items[4]
        assert items["2"] is items[2]
        items["2"] = nn.Sigmoid()
        del items["0"]
        assert [type(x).__name__ for x in items] == ["Tanh", "Sigmoid", "ReLU"]
        with pytest.raises(KeyError, match="7"):
            items["7"]

    def test_names_with_dots(self, tmp_path):
        class Net(nn.Layer):
            def __init__(self):
                super().__init__()
                self.blocks = [self.add_sublayer(f"_blocks.{i}.", nn.Linear(1, 1)) for i in range(2)]

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return getattr(self, "_blocks.0.")(x)

        net, x = Net(), Tensor([[3.0]])
        assert list(net.state_dict())[:2] == ["_blocks.0..weight", "_blocks.0..bias"]
        assert net.set_state_dict(net.state_dict()) == ([], [])
        expected = net(x).numpy()
        np.testing.assert_allclose(paddle.jit.to_static(net)(x).numpy(), expected, rtol=1e-6)
        paddle.jit.save(net, tmp_path / "net", [paddle.static.InputSpec([None, 1])])
        np.testing.assert_allclose(paddle.jit.load(tmp_path / "net")(x).numpy(), expected, rtol=1e-6)

    def test_layer_dict_and_parameter_list(self):
        d = nn.LayerDict(OrderedDict(a=nn.ReLU()))
        d["b"] = nn.Linear(1, 1)
        assert (list(d), "b" in d, len(d)) == (["a", "b"], True, 2)
        assert isinstance(d.pop("a"), nn.ReLU)
        assert [k for k, _ in d.items()] == ["b"]
        d.clear()
        assert len(d) == 0
        p = nn.ParameterList([paddle.create_parameter([i]) for i in (1, 2)])
        p.append(paddle.create_parameter([3]))
        assert [x.shape for x in p] == [[1], [2], [3]]
        assert len(p.parameters()) == 3


class TestLayers:
    @pytest.mark.parametrize(
        ("layer", "shape", "out"),
        [
            (lambda: nn.Conv2D(2, 4, 3, padding=1, stride=2), [1, 2, 6, 6], [1, 4, 3, 3]),
            (lambda: nn.Conv2D(4, 4, 3, groups=4, bias_attr=False), [1, 4, 6, 6], [1, 4, 4, 4]),
            (lambda: nn.Conv2D(2, 4, 3, padding=1, padding_mode="reflect"), [1, 2, 6, 6], [1, 4, 6, 6]),
            (lambda: nn.Conv1D(2, 4, 3), [1, 2, 6], [1, 4, 4]),
            (lambda: nn.Conv2DTranspose(2, 4, 3, 2), [1, 2, 3, 3], [1, 4, 7, 7]),
            (lambda: nn.MaxPool2D(2), [1, 2, 6, 6], [1, 2, 3, 3]),
            (lambda: nn.AvgPool2D(3, 1, 1), [1, 2, 6, 6], [1, 2, 6, 6]),
            (lambda: nn.AdaptiveAvgPool2D([1, 2]), [1, 2, 6, 6], [1, 2, 1, 2]),
            (lambda: nn.AdaptiveMaxPool2D(1), [1, 2, 6, 6], [1, 2, 1, 1]),
            (lambda: nn.BatchNorm2D(2), [2, 2, 3, 3], [2, 2, 3, 3]),
            (lambda: nn.BatchNorm1D(2), [4, 2], [4, 2]),
            (lambda: nn.BatchNorm(2, act="relu"), [4, 2], [4, 2]),
            (lambda: nn.LayerNorm([3, 3]), [2, 2, 3, 3], [2, 2, 3, 3]),
            (lambda: nn.GroupNorm(2, 4), [2, 4, 3, 3], [2, 4, 3, 3]),
            (lambda: nn.InstanceNorm2D(2), [2, 2, 3, 3], [2, 2, 3, 3]),
            (lambda: nn.Dropout(0.5), [2, 2], [2, 2]),
            (lambda: nn.Flatten(), [2, 3, 4], [2, 12]),
            (lambda: nn.Identity(1, a=2), [2, 3], [2, 3]),
            (lambda: nn.Upsample(scale_factor=2), [1, 1, 2, 2], [1, 1, 4, 4]),
            (lambda: nn.Pad2D(1), [1, 1, 2, 2], [1, 1, 4, 4]),
            (lambda: nn.PReLU(2), [1, 2, 2, 2], [1, 2, 2, 2]),
            (lambda: nn.Softmax(axis=0), [2, 2], [2, 2]),
            (lambda: nn.LeakyReLU(0.2), [2, 2], [2, 2]),
        ],
    )  # fmt: skip
    def test_shapes_and_gradients(self, layer, shape, out):
        layer = layer()
        x = Tensor(np.random.default_rng(0).normal(size=shape).astype("float32"), stop_gradient=False)
        y = layer(x)
        assert y.shape == out
        (y * y).sum().backward()
        assert x.grad.shape == shape
        for p in layer.parameters():
            assert p.grad is not None
            assert np.isfinite(p.grad.numpy()).all()

    def test_batch_norm_keeps_statistics(self):
        bn = nn.BatchNorm1D(2, momentum=0.5)
        x = Tensor([[0.0, 10.0], [2.0, 10.0]])
        bn(x)
        np.testing.assert_allclose(bn._mean.numpy(), [0.5, 5])
        np.testing.assert_allclose(bn._variance.numpy(), [1.0, 0.5])
        bn.eval()
        y = bn(x)
        np.testing.assert_allclose(y.numpy()[:, 0], (np.array([0, 2]) - 0.5) / np.sqrt(1 + 1e-5), rtol=1e-5)
        np.testing.assert_allclose(bn._mean.numpy(), [0.5, 5])
        assert list(bn.state_dict()) == ["weight", "bias", "_mean", "_variance"]
        with pytest.raises(ShapeError):
            bn(paddle.zeros([1, 2, 3, 3]))

    def test_activations_take_the_arguments_of_their_functions(self):
        x = Tensor([-1.0, 2.0])
        np.testing.assert_array_equal(nn.LeakyReLU(0.5)(x).numpy(), F.leaky_relu(x, 0.5).numpy())
        np.testing.assert_array_equal(nn.Hardtanh(-0.5, 0.5)(x).numpy(), [-0.5, 0.5])
        with pytest.raises(TypeError):
            nn.ReLU(slope=1)

    def test_wrong_arguments(self):
        with pytest.raises(AttributeValueError, match="groups"):
            nn.Conv2D(3, 4, 1, groups=2)
        with pytest.raises(AttributeValueError, match="padding_mode"):
            nn.Conv2D(3, 4, 1, padding_mode="x")
        with pytest.raises(AttributeValueError, match="reduction"):
            nn.MSELoss("x")
        with pytest.raises(ShapeError):
            nn.Linear(0, 1)

    def test_losses(self):
        a, b = Tensor([[1.0, 2.0]]), Tensor([[0.0, 2.0]])
        assert nn.MSELoss()(a, b).item() == 0.5
        assert nn.L1Loss("sum")(a, b).item() == 1
        assert nn.SmoothL1Loss("none")(a, b).numpy().tolist() == [[0.5, 0]]
        y = Tensor([1])
        np.testing.assert_allclose(nn.CrossEntropyLoss()(a, y).item(), F.cross_entropy(a, y).item())
        np.testing.assert_allclose(nn.NLLLoss()(F.log_softmax(a), y).item(), F.cross_entropy(a, y).item(), rtol=1e-6)
        t = Tensor([[1.0, 0.0]])
        np.testing.assert_allclose(nn.BCEWithLogitsLoss()(a, t).item(), nn.BCELoss()(F.sigmoid(a), t).item(), rtol=1e-5)


class TestInitializers:
    I = nn.initializer  # noqa: E741

    @pytest.mark.parametrize(
        ("init", "shape", "mean", "std", "bound"),
        [
            (I.Normal(1.0, 2.0), [100, 100], 1.0, 2.0, None),
            (I.TruncatedNormal(1.0, 2.0), [100, 100], 1.0, 2 * 0.8796, (-3, 5)),
            (I.Uniform(0.0, 2.0), [100, 100], 1.0, 2 / 12**0.5, (0, 2)),
            (I.XavierUniform(), [50, 150], 0, 0.1, (-0.1732051, 0.1732051)),
            (I.XavierNormal(), [50, 150], 0, 0.1, None),
            (I.KaimingNormal(), [50, 8, 5, 5], 0, 0.1, None),
            (I.KaimingUniform(), [50, 8, 5, 5], 0, 0.1, (-0.1732051, 0.1732051)),
        ],
    )
    def test_distributions(self, init, shape, mean, std, bound):
        paddle.seed(1)
        value = init.make(shape, "float32").numpy()
        assert (list(value.shape), value.dtype) == (shape, np.float32)
        np.testing.assert_allclose(value.mean(), mean, atol=0.05)
        np.testing.assert_allclose(value.std(), std, rtol=0.05)
        if bound:
            assert bound[0] <= value.min() <= value.max() <= bound[1]

    def test_values(self):
        p = paddle.create_parameter([2, 2], default_initializer=self.I.Assign([[1.0, 2.0], [3.0, 4.0]]))
        assert p.tolist() == [[1, 2], [3, 4]]
        self.I.Constant(7.0)(p)
        assert p.tolist() == [[7, 7], [7, 7]]
        with pytest.raises(ShapeError, match="initial value"):
            self.I.Assign([1.0])(p)
        for shape in ([3], [2, 2], [1]):  # the value's shape, as in PaddlePaddle
            wide = np.arange(6.0).reshape(2, 3)
            attr = paddle.ParamAttr(initializer=self.I.Assign(wide))
            for made in (paddle.create_parameter(shape, default_initializer=self.I.Assign(wide)), nn.Layer().create_parameter(shape, attr)):
                assert (made.shape, made.dtype, made.tolist()) == ([2, 3], "float32", wide.tolist())
        with paddle.static.program_guard(main := paddle.static.Program(), startup := paddle.static.Program()):
            assert paddle.create_parameter([1], "float32", "w", default_initializer=self.I.Assign(wide)).shape == [2, 3]
            executor = paddle.static.Executor()
            executor.run(startup, scope=(scope := paddle.static.Scope()))
            assert executor.run(main, fetch_list=["w"], scope=scope)[0].tolist() == wide.tolist()
        q = self.I.Orthogonal().make([3, 5], "float32").numpy()
        np.testing.assert_allclose(q @ q.T, np.eye(3), atol=1e-6)
        assert self.I.calculate_gain("relu") == 2**0.5
        with pytest.raises(AttributeValueError, match="gain"):
            self.I.calculate_gain("x")

    def test_seeds(self):
        paddle.seed(5)
        a = nn.Linear(3, 3).weight.numpy()
        paddle.seed(5)
        np.testing.assert_array_equal(nn.Linear(3, 3).weight.numpy(), a)
        assert (nn.Linear(3, 3).weight.numpy() != a).any()

    def test_param_attr(self):
        attr = paddle.ParamAttr("my_w", self.I.Constant(1.0), learning_rate=0.5, trainable=False, need_clip=False)
        w = nn.Linear(1, 1, weight_attr=attr, bias_attr=False)
        assert (w.weight.name, w.weight.stop_gradient, w.bias) == ("my_w", True, None)
        assert (w.weight.optimize_attr, w.weight.need_clip) == ({"learning_rate": 0.5}, False)
        assert nn.Linear(1, 1, weight_attr="other").weight.name == "other"
        with pytest.raises(DTypeError, match="ParamAttr"):
            nn.Linear(1, 1, weight_attr=3)

    def test_global(self):
        try:
            self.I.set_global_initializer(self.I.Constant(3.0), self.I.Constant(4.0))
            layer = nn.Conv2D(1, 1, 1)
            assert (layer.weight.item(), layer.bias.item()) == (3, 4)
        finally:
            self.I.set_global_initializer(None)
        assert nn.Linear(1, 1).bias.item() == 0


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Net().set_state_dict(Net().state_dict())
