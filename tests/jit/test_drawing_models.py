"""Saved models that draw random numbers: the generator's state is in no file, so who runs the model gives it."""

import subprocess
import sys

import numpy as np
import pytest
from dy2st_runtime import Predictor, config
from dy2st_runtime.cli import main
from dy2st_runtime.errors import AttributeValueError

import dy2st as paddle
from dy2st.jit import InputSpec

X = np.ones((2, 3), "float32")


class Sampler(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.scores, self.dropout = paddle.nn.Linear(3, 4), paddle.nn.Dropout(0.5)

    def forward(self, x):
        h = self.dropout(self.scores(x))
        if h.sum() < 100.0:
            h = h + paddle.rand([4])
        p = paddle.nn.functional.softmax(h)
        return h, paddle.multinomial(p, 1), paddle.randint(0, 9, [3]), paddle.bernoulli(p), paddle.randperm(5)


class Drawing(paddle.nn.Layer):
    def forward(self, x):
        return x + paddle.randint(0, 2**30, [1])


@pytest.fixture
def sampler(tmp_path):
    net = Sampler()
    paddle.jit.save(net, tmp_path / "sampler", [InputSpec([None, 3], "float32", "x")])
    return net, tmp_path / "sampler"


@pytest.fixture
def drawing(tmp_path):
    paddle.jit.save(Drawing(), tmp_path / "drawing", [InputSpec([1], "int64", "x")])
    return str(tmp_path / "drawing")


@pytest.mark.parametrize("native", [False, True])
def test_a_seed_gives_what_the_layer_gives_after_it(sampler, native):
    net, path = sampler
    paddle.seed(7)
    want = [[t.numpy() for t in net(paddle.to_tensor(X))] for _ in range(2)]
    with config.NO_JIT.override(not native):
        predictor = Predictor(path, seed=7)
        for values in want:
            for a, b in zip(values, predictor.run([X]), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5)


def test_without_a_seed_each_predictor_draws_other_numbers(drawing):
    x = np.zeros(1, "int64")
    predictors = [Predictor(drawing) for _ in range(3)]
    drawn = {int(p.run([x])[0][0]) for p in predictors for _ in range(2)}
    assert len(drawn) == 6


def test_a_seed_is_an_int_of_64_bits(drawing):
    for seed in ("7", 1.5, 2**63):
        with pytest.raises(AttributeValueError, match="a seed"):
            Predictor(drawing, seed=seed)
    assert Predictor(drawing, seed=np.int64(-3)).run([[0]])[0].shape == (1,)


def test_the_command_line_takes_a_seed(drawing, capsys):
    outputs = []
    for seed in ("3", "3", "4"):
        assert main(["run", drawing, "--seed", seed]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]
    assert main(["run", drawing]) == 0


@pytest.mark.slow
def test_the_module_runs_such_a_model(drawing):
    done = subprocess.run([sys.executable, "-m", "dy2st_runtime", "run", drawing], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "int64[1]" in done.stdout
