"""Clipping of gradients in place, vectors of parameters, weights in other forms; eager and static alike."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import nn
from dy2st.errors import AttributeValueError, OutOfRangeError, ShapeError, StagedValueError
from dy2st.nn import utils

X = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")


def network():
    paddle.seed(1)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))


def gradients(model):
    (model(paddle.to_tensor(X)) ** 2).sum().backward()
    return [p.grad.numpy() for p in model.parameters()]


@pytest.mark.parametrize("order", [float("inf"), 0, 1, 2])
def test_gradients_have_at_most_the_norm(order):
    model = network()
    before = gradients(model)
    total = utils.clip_grad_norm_(model.parameters(), 0.5, order)
    flat = np.concatenate([g.ravel() for g in before])
    expected = len(before) if order == 0 else np.linalg.norm(flat, order)
    np.testing.assert_allclose(total.numpy(), expected, rtol=1e-5)
    for p, g in zip(model.parameters(), before, strict=True):
        np.testing.assert_allclose(p.grad.numpy(), g * min(1.0, 0.5 / (expected + 1e-6)), rtol=1e-5)


def test_gradients_that_are_small_enough_stay():
    model = network()
    before = gradients(model)
    utils.clip_grad_norm_(model.parameters(), 1e6)
    utils.clip_grad_value_(model.parameters(), 1e6)
    for p, g in zip(model.parameters(), before, strict=True):
        np.testing.assert_array_equal(p.grad.numpy(), g)
    assert utils.clip_grad_norm_([paddle.ones([2])], 1.0).numpy() == 0


def test_clipping_in_a_step():
    def step(model, opt, x):
        (model(x) ** 2).sum().backward()
        total = utils.clip_grad_norm_(model.parameters(), 0.5)
        utils.clip_grad_value_(model.parameters(), 0.1)
        opt.step()
        opt.clear_grad()
        return total

    results = []
    for run in (step, paddle.jit.to_static(step)):
        model = network()
        opt = paddle.optimizer.SGD(0.1, model.parameters())
        totals = [run(model, opt, paddle.to_tensor(X)).numpy() for _ in range(2)]
        results.append([*totals, *(p.numpy() for p in model.parameters())])
    for eager, static in zip(*results, strict=True):
        np.testing.assert_allclose(static, eager, rtol=1e-5)


def test_norms_that_are_refused():
    w = paddle.to_tensor([np.inf], stop_gradient=False)
    (w * w).sum().backward()
    with pytest.raises(RuntimeError, match="inf"):
        utils.clip_grad_norm_(w, 1.0, error_if_nonfinite=True)
    with pytest.raises(AttributeValueError, match="norm_type"):
        utils.clip_grad_norm_(w, 1.0, 3)
    with pytest.raises(StagedValueError, match="finite"):
        paddle.jit.to_static(lambda x: utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True))(w)


def test_parameters_as_a_vector():
    one, other = network(), nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    vector = utils.parameters_to_vector(one.parameters())
    np.testing.assert_array_equal(vector.numpy(), np.concatenate([p.numpy().ravel() for p in one.parameters()]))
    assert not vector.stop_gradient
    utils.vector_to_parameters(vector, other.parameters())
    np.testing.assert_array_equal(one(paddle.to_tensor(X)).numpy(), other(paddle.to_tensor(X)).numpy())
    with pytest.raises(ShapeError, match="37 elements"):
        utils.vector_to_parameters(vector[:3], one.parameters())
    with pytest.raises(ShapeError, match="no parameters"):
        utils.parameters_to_vector([])


def test_a_vector_in_a_static_function():
    model = network()
    before = utils.parameters_to_vector(model.parameters()).numpy()

    @paddle.jit.to_static
    def halve():
        utils.vector_to_parameters(utils.parameters_to_vector(model.parameters()) / 2, model.parameters())

    halve()
    np.testing.assert_array_equal(utils.parameters_to_vector(model.parameters()).numpy(), before / 2)


def trained(change, static):
    """Results of two steps, and what the layer then is."""
    paddle.seed(3)
    layer = change(nn.Linear(4, 5))
    opt = paddle.optimizer.SGD(0.1, layer.parameters())

    def step(x):
        out = layer(x)
        (out**2).mean().backward()
        opt.step()
        opt.clear_grad()
        return out

    run = paddle.jit.to_static(step) if static else step
    outs = [run(paddle.to_tensor(X)).numpy() for _ in range(2)]
    layer.eval()
    return [*outs, layer(paddle.to_tensor(X)).numpy(), layer.weight.numpy(), *(t.numpy() for t in layer.state_dict().values())]


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(dim):
    layer = nn.Linear(4, 5)
    before = layer.weight.numpy()
    assert utils.weight_norm(layer, dim=dim) is layer
    axes = None if dim is None else 1 - dim
    np.testing.assert_allclose(layer.weight_g.numpy(), np.sqrt((before**2).sum(axes)), rtol=1e-6)
    np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-5)
    for eager, static in zip(*(trained(lambda made: utils.weight_norm(made, dim=dim), s) for s in (False, True)), strict=True):
        np.testing.assert_allclose(static, eager, rtol=1e-4, atol=1e-6)
    with pytest.raises(AttributeValueError, match="already"):
        utils.weight_norm(layer)
    layer.weight_g.set_value(layer.weight_g * 2)
    utils.remove_weight_norm(layer)
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
    np.testing.assert_allclose(layer.weight.numpy(), before * 2, rtol=1e-5)
    np.testing.assert_allclose(layer(paddle.to_tensor(X)).numpy(), X @ before * 2 + layer.bias.numpy(), rtol=1e-4, atol=1e-6)
    with pytest.raises(AttributeValueError, match="not normalized"):
        utils.remove_weight_norm(layer)


def test_axes_of_a_convolution():
    layer = nn.Conv2D(3, 5, 2)
    before = layer.weight.numpy()
    utils.weight_norm(layer, dim=-3)
    assert layer.weight_g.shape == [3]
    np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-5)
    with pytest.raises(OutOfRangeError, match="dim"):
        utils.weight_norm(layer, "bias", dim=1)
    with pytest.raises(AttributeValueError, match="no parameter 'gain'"):
        utils.weight_norm(layer, "gain")


def test_spectral_norm():
    layer = nn.Linear(4, 5)
    before = layer.weight.numpy()
    utils.spectral_norm(layer, n_power_iterations=50)
    np.testing.assert_array_equal(layer.weight.numpy(), before)
    layer(paddle.to_tensor(X))
    np.testing.assert_allclose(layer.weight.numpy(), before / np.linalg.svd(before)[1][0], rtol=1e-4)
    assert (layer.weight_u.shape, layer.weight_v.shape) == ([5], [4])
    for eager, static in zip(*(trained(utils.spectral_norm, s) for s in (False, True)), strict=True):
        np.testing.assert_allclose(static, eager, rtol=1e-4, atol=1e-6)
    with pytest.raises(AttributeValueError, match="already"):
        utils.spectral_norm(layer)
    with pytest.raises(AttributeValueError, match="at least 1"):
        utils.spectral_norm(layer, "bias", 0)


def test_the_layer_of_spectral_norm():
    weight = np.random.default_rng(2).normal(size=(3, 2, 2)).astype("float32")
    layer = nn.SpectralNorm([3, 2, 2], dim=1, power_iters=50)
    expected = weight / np.linalg.svd(weight.transpose(1, 0, 2).reshape(2, 6))[1][0]
    u = layer.weight_u.numpy()
    for run in (layer, paddle.jit.to_static(lambda w: layer(w))):
        np.testing.assert_allclose(run(paddle.to_tensor(weight)).numpy(), expected, rtol=1e-4)
    np.testing.assert_array_equal(layer.weight_u.numpy(), u)
    assert layer.weight_u.stop_gradient
    with pytest.raises(ShapeError, match="axis 3"):
        nn.SpectralNorm([3, 2, 2], 3)
