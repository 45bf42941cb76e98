"""`Model` over data sets, against loops of one's own, and its callbacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dy2st as paddle
from dy2st import callbacks, io, nn
from dy2st.errors import AttributeValueError, StateDictError
from dy2st.jit.steps import learning
from dy2st.jit.steps.joined import JoinedStep

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(48, 6)).astype("float32"), RNG.integers(0, 3, (48, 1))
DATA = io.TensorDataset([X, Y])


def made(rate: Any = 0.05, static: bool = False, metrics: Any = None) -> paddle.Model:
    paddle.seed(1)
    net: Any = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    model = paddle.Model(paddle.jit.to_static(net) if static else net, [paddle.static.InputSpec([None, 6], "float32", "x")])
    model.prepare(paddle.optimizer.Adam(rate, parameters=model.parameters()), nn.CrossEntropyLoss(), metrics)
    return model


def weights(model: paddle.Model) -> np.ndarray:
    return np.concatenate([p.numpy().ravel() for p in model.parameters()])


@pytest.mark.parametrize("accumulate", [1, 4])
def test_fit_is_the_loop_one_writes(accumulate: int) -> None:
    model, other = made(), made()
    model.fit(DATA, batch_size=8, epochs=2, shuffle=False, verbose=0, accumulate_grad_batches=accumulate)
    for _ in range(2):
        for step, (x, y) in enumerate(io.DataLoader(DATA, batch_size=8)):
            nn.CrossEntropyLoss()(other.network(x), y).backward()
            if (step + 1) % accumulate == 0 or step == 5:
                other._optimizer.step()
                other._optimizer.clear_grad()
    np.testing.assert_array_equal(weights(model), weights(other))


def test_a_static_network_trains_as_in_eager_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "SHARE", 0.0)
    joined, init = [], JoinedStep.__init__

    def noting(self: Any, *args: Any, **kwargs: Any) -> None:
        joined.append(self)
        init(self, *args, **kwargs)

    monkeypatch.setattr(JoinedStep, "__init__", noting)
    eager, static = made(metrics=paddle.metric.Accuracy()), made(static=True, metrics=paddle.metric.Accuracy())
    for model in (eager, static):
        model.fit(DATA, batch_size=8, epochs=2, shuffle=False, verbose=0)
    assert joined  # the steps of `fit` are those of a loop that runs as one Program each
    np.testing.assert_allclose(weights(eager), weights(static), rtol=1e-4, atol=1e-5)
    a, b = (m.evaluate(DATA, batch_size=48, verbose=0) for m in (eager, static))
    assert a["acc"] == b["acc"]
    assert a["loss"] == pytest.approx(b["loss"], rel=1e-4)


def test_predict_save_and_load(tmp_path: Path) -> None:
    with paddle.utils.unique_name.guard():  # the state of an optimizer goes by the names of parameters
        model = made()
    model.fit(DATA, batch_size=16, verbose=0, save_dir=str(tmp_path))
    assert {p.name for p in tmp_path.iterdir()} == {f"{n}.{s}" for n in ("0", "final") for s in ("pdparams", "pdopt")}
    start = model.network[0].weight.numpy().copy()
    (parts,) = model.predict(DATA, batch_size=20, verbose=0)
    assert [len(p) for p in parts] == [20, 20, 8]
    with paddle.utils.unique_name.guard():
        other = made()
    other.load(str(tmp_path / "final"))
    np.testing.assert_array_equal(other.predict(DATA, 48, stack_outputs=True, verbose=0)[0], np.vstack(parts))
    for m in (model, other):
        m.fit(DATA, batch_size=16, verbose=0, shuffle=False)
    np.testing.assert_array_equal(weights(model), weights(other))
    (parts,) = model.predict(DATA, batch_size=20, verbose=0)
    model.save(str(tmp_path / "model"), training=False)
    loaded = paddle.jit.load(str(tmp_path / "model"))
    np.testing.assert_allclose(loaded(paddle.to_tensor(X)).numpy(), np.vstack(parts), rtol=1e-4, atol=1e-5)
    wide = paddle.Model(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)))
    with pytest.raises(StateDictError):
        wide.load(str(tmp_path / "final"))
    with pytest.warns(UserWarning, match="another shape"):
        wide.load(str(tmp_path / "final.pdparams"), skip_mismatch=True)
    np.testing.assert_array_equal(wide.network[0].weight.numpy(), start)


def test_callbacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []

    class Keep(callbacks.Callback):
        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            seen.append((step, logs["loss"][0]))

    model = made(rate=0.0)
    stop, less = callbacks.EarlyStopping(patience=3), callbacks.ReduceLROnPlateau(patience=1, factor=0.5)
    model._optimizer.set_lr(1e-12)
    model.fit(DATA, DATA, 16, epochs=9, save_dir=str(tmp_path), callbacks=[Keep(), stop, less], verbose=2, log_freq=2)
    assert [step for step, _ in seen] == [0, 1, 2] * 4  # the best value is the first, and then come three others
    assert model._optimizer.get_lr() == pytest.approx(1e-12 / 8)
    assert (tmp_path / "best_model.pdparams").exists()
    out = capsys.readouterr().out
    assert all(said in out for said in ("Epoch 1/9", "step 2/3 - loss: ", "step 3/3 - loss: "))


def test_schedules_and_limits() -> None:
    model = made(paddle.optimizer.lr.StepDecay(0.1, 2))
    model.fit(DATA, batch_size=8, num_iters=8, verbose=0)
    assert model._optimizer._learning_rate.last_epoch == 8
    with pytest.raises(AttributeValueError, match="amp_configs"):
        model.prepare(amp_configs="O1")
    with pytest.raises(AttributeValueError, match="prepare"):
        paddle.Model(nn.Linear(6, 3)).fit(DATA, verbose=0)
