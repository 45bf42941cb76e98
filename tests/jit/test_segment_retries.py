"""`to_static(full_graph=False)`: a piece whose run refuses runs once more, in Python or by another trace, and has done nothing before."""

import logging
import warnings

import numpy as np
import pytest

from dy2st import autograd, jit, nn, seed
from dy2st.errors import EagerStatementWarning
from dy2st.optimizer import SGD
from dy2st.tensor import Tensor
from dy2st.tensor.random import rand


@pytest.fixture(autouse=True)
def no_warnings_of_statements():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EagerStatementWarning)
        yield


def powers(x, k):
    y = x * 2
    print("largest", float(y.max()))
    logging.getLogger("pieces").warning("sum %.1f", float(y.sum()))
    if y.sum() > 0:
        warnings.warn(f"positive {float(y.min()):.0f}", UserWarning, stacklevel=1)
    z = y * 2**k + rand([2])
    m = float(np.max(z.numpy()))
    return z + m, rand([2])


def observed(function, calls, capsys, caplog):
    found = []
    for values, k in calls:
        seed(3)
        caplog.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            results = [t.numpy().round(4).tolist() for t in function(Tensor(values), k)]
        said = [str(w.message) for w in caught if w.category is UserWarning]
        found.append((results, capsys.readouterr().out, [r.getMessage() for r in caplog.records], said))
    return found


def test_a_number_of_which_the_run_makes_another_kind(capsys, caplog):
    calls = [([1.0, 2.0], 1), ([1.0, 2.0], 2), ([1.0, 2.0], -1), ([3.0, 2.0], 3), ([1.0, 2.0], -2)]
    static = jit.to_static(powers, full_graph=False)
    assert observed(static, calls, capsys, caplog) == observed(powers, calls, capsys, caplog)


def power_by_a_tensor(x, n):
    print("n is", int(n))
    return x * 2 ** int(n)


def test_the_run_of_a_function_as_a_whole(capsys):
    static = jit.to_static(power_by_a_tensor, full_graph=False)
    for n in (1, -1, 2):
        assert static(Tensor([1.0]), Tensor(n)).tolist() == [2.0**n]
        assert capsys.readouterr().out == f"n is {n}\n"


def failing(x, k):
    print("before", float(x.sum()))
    y = x * k
    assert y.sum() > 3, f"too little: {float(y.sum())}"
    print("after")
    return y * float(np.max(y.numpy()))


def test_what_is_said_before_an_exception_of_the_user(capsys):
    static = jit.to_static(failing, full_graph=False)
    found = []
    for function in (failing, static):
        for k in (2, 3, 1, 4, 0):
            try:
                result = function(Tensor([1.0, 1.0]), k).tolist()
            except AssertionError as error:
                result = str(error).splitlines()[0]
            found.append((result, capsys.readouterr().out))
    assert found[5:] == found[:5]


def made():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    for p in net.parameters():
        p.set_value(np.linspace(-0.5, 1, p.size, dtype=np.float32).reshape(p.shape))
    return net, SGD(0.1, parameters=net.parameters())


def after(step, *calls):
    """What calls give and what is left behind, eagerly and not as a whole static."""
    found = []
    for wrap in (lambda f: f, lambda f: jit.to_static(f, full_graph=False)):
        net, optimizer = made()
        function = wrap(step(net, optimizer))
        results = [[np.round(np.asarray(v), 4).tolist() for v in function(Tensor(x, stop_gradient=False), *rest)] for x, *rest in calls]
        found.append((results, [(p.numpy().round(4).tolist(), None if p.grad is None else p.grad.numpy().round(4).tolist())
                                for p in net.parameters()]))  # fmt: skip
    return found


def accumulated(net, optimizer):
    def step(x, last):
        loss = (net(x) ** 2).mean()
        loss.backward()
        norm = float(np.sqrt(sum(float((p.grad.numpy() ** 2).sum()) for p in net.parameters())))
        if last:
            optimizer.step()
            optimizer.clear_grad()
        return norm, loss.numpy() if loss > 1 else loss.numpy() * 2

    return step


def test_gradients_from_before_the_call():
    expected, found = after(accumulated, *(([[k, 2.0], [1.0, -k]], k % 2 == 1) for k in range(5)))
    assert found == expected


def test_a_hook_that_comes_behind_the_first_call():
    found = []
    for wrap in (lambda f: f, lambda f: jit.to_static(f, full_graph=False)):
        net, _ = made()

        @wrap
        def step(x, net=net):
            loss = (net(x) ** 2).mean()
            loss.backward()
            return loss.detach() * float(np.max(loss.numpy()))

        seen = []
        for x in ([[1.0, 2.0]], [[1.0, -2.0]]):
            found.append((round(step(Tensor(x)).item(), 4), *(p.grad.numpy().round(4).tolist() for p in net.parameters()), list(seen)))
            net.clear_gradients()
            net[0].weight.register_hook(lambda g, seen=seen: seen.append(g.numpy().round(3).tolist()))
    assert str(found[2:]) == str(found[:2])


def penalty(net, optimizer):
    def step(x, k):
        score = net(x)
        print(end=str(score.numpy().shape)[:0])
        (g,) = autograd.grad(score.sum(), [x], create_graph=True)
        ((g * g).sum().sqrt() * k + score.mean()).backward()
        return g.numpy(), x.grad.numpy()

    return step


def test_gradients_of_gradients():
    expected, found = after(penalty, ([[1.0, 2.0]], 1.0), ([[1.0, -2.0], [0.0, 1.0]], 2.0))
    assert found == expected
