"""The main job: train, inspect, save and deploy a digit classifier whose `forward` decides at run time how much of itself to run.

The data are the 1,797 handwritten digits (8 x 8 pixels) that come with scikit-learn. `forward` has

- an early exit: if a cheap first classifier is sure of every image of the batch, the deep part is skipped;
- a refinement loop: the deep features are iterated until they stop changing, at most `max_steps` times.

Both conditions depend on the data, so they become native `cond` and `while_loop` ops, differentiable ones.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import nn

# what the separate process runs: it has the runtime only, and says so
DEPLOYED = """
import sys
import numpy as np
from dy2st_runtime import Predictor

predictor = Predictor(sys.argv[1])
images = np.load(sys.argv[2])
sizes = [1, 7, len(images) - 8]  # one compiled model serves all batch sizes
parts = np.split(images, np.cumsum(sizes)[:-1])
np.save(sys.argv[3], np.concatenate([predictor.run([part])[0] for part in parts]))
assert not {"dy2st", "gast", "astor"} & set(sys.modules), "the deployment must not need the compiler"
"""


class DigitNet(nn.Layer):
    """Logits of shape [N, 10] for images of shape [N, 1, 8, 8]."""

    def __init__(self, confident: float = 0.995, tolerance: float = 0.01, max_steps: int = 8):
        super().__init__()
        self.stem = nn.Conv2D(1, 16, 3, padding=1)
        self.pool = nn.MaxPool2D(2, 2)
        self.early = nn.Linear(16 * 4 * 4, 10)
        self.conv = nn.Conv2D(16, 32, 3, padding=1)
        self.project = nn.Linear(32 * 4 * 4, 64)
        self.refine = nn.Linear(64, 64)
        self.head = nn.Linear(64, 10)
        self.confident, self.tolerance, self.max_steps = confident, tolerance, max_steps

    def forward(self, x):
        x = self.pool(F.relu(self.stem(x)))
        early = self.early(paddle.flatten(x, 1))
        if F.softmax(early).max(axis=1).min() > self.confident:
            return early, early
        x = paddle.flatten(F.relu(self.conv(x)), 1)
        evidence = self.project(x)
        state = paddle.tanh(evidence)
        change = paddle.ones([])
        step = 0
        while change > self.tolerance and step < self.max_steps:
            new = paddle.tanh(evidence + self.refine(state))
            change = (new - state).abs().mean()
            state = new
            step += 1
        return self.head(state), early


def load_digits(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training and test images ([N, 1, 8, 8], float32 from 0 to 1) and labels (int64): 1,437 and 360 of them."""
    from sklearn.datasets import load_digits as load
    from sklearn.model_selection import train_test_split

    data = load()
    images = (data.images / 16.0).astype("float32")[:, None]
    x, x_test, y, y_test = train_test_split(
        images, data.target.astype("int64"), test_size=360, random_state=seed, stratify=data.target
    )
    return x, y, x_test, y_test


def loss_of(model: nn.Layer, x: paddle.Tensor, y: paddle.Tensor) -> paddle.Tensor:
    logits, early = model(x)
    return F.cross_entropy(logits, y) + 0.3 * F.cross_entropy(early, y)


def accuracy(model: nn.Layer, x: np.ndarray, y: np.ndarray) -> float:
    model.eval()
    with paddle.no_grad():
        logits, _ = model(paddle.to_tensor(x))
    model.train()
    return float((logits.numpy().argmax(1) == y).mean())


def train(
    model: nn.Layer, data: tuple[np.ndarray, ...], epochs: int, batch: int, seed: int
) -> list[tuple[float, float]]:
    """Trains with AdamW; a progress bar shows loss and test accuracy. Returns them for each epoch."""
    from tqdm import tqdm

    x, y, x_test, y_test = data
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(learning_rate=3e-3, T_max=epochs)
    optimizer = paddle.optimizer.AdamW(schedule, parameters=model.parameters(), weight_decay=1e-4)
    rng = np.random.default_rng(seed)
    history = []
    with tqdm(range(epochs), desc="training", unit="epoch", disable=not sys.stderr.isatty()) as bar:
        for _ in bar:
            losses = []
            order = rng.permutation(len(x))
            for start in range(0, len(x), batch):
                rows = order[start : start + batch]
                loss = loss_of(model, paddle.to_tensor(x[rows]), paddle.to_tensor(y[rows]))
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
                losses.append(float(loss))
            schedule.step()
            history.append((statistics.fmean(losses), accuracy(model, x_test, y_test)))
            bar.set_postfix(loss=f"{history[-1][0]:.4f}", accuracy=f"{history[-1][1]:.4f}")
    return history


def median_ms(fn, repeat: int = 15) -> float:
    """Milliseconds of a call: the median after a warm-up."""
    fn()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        fn()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def compare_speed(eager: nn.Layer, static: nn.Layer, x: np.ndarray, y: np.ndarray) -> None:
    """Prints the time of a training step and of inference, eager against static."""
    # a learning rate of 0: the steps do all of their work and leave the parameters as they are
    optimizers = {m: paddle.optimizer.AdamW(0.0, parameters=m.parameters()) for m in (eager, static)}

    def step(model: nn.Layer) -> None:
        loss_of(model, paddle.to_tensor(x[:64]), paddle.to_tensor(y[:64])).backward()
        optimizers[model].step()
        optimizers[model].clear_grad()

    def infer(model: nn.Layer) -> None:
        with paddle.no_grad():
            model(paddle.to_tensor(x[:64]))

    print(f"{'batch of 64, median':<28}{'eager':>10}{'static':>10}{'ratio':>8}")
    for name, work in (("training step", step), ("inference", infer)):
        slow, fast = median_ms(lambda: work(eager)), median_ms(lambda: work(static))  # noqa: B023
        print(f"{name:<28}{slow:>7.2f} ms{fast:>7.2f} ms{slow / fast:>7.1f}x")


def early_exits(model: nn.Layer, images: np.ndarray) -> float:
    """The share of images that leave by the early exit when they come one at a time."""
    with paddle.no_grad():
        results = [model(paddle.to_tensor(image[None])) for image in images]
    return float(np.mean([np.array_equal(logits.numpy(), early.numpy()) for logits, early in results]))


def draw(
    history: list[tuple[float, float]], images: np.ndarray, labels: np.ndarray, guesses: np.ndarray, path: Path
) -> None:
    """The learning curve and some predictions, as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(10, 4.5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.1, 1))
    axes = left.subplots()
    axes.plot([h[0] for h in history], color="tab:blue")
    axes.set(xlabel="epoch", ylabel="training loss", yscale="log")
    axes.yaxis.label.set_color("tab:blue")
    twin = axes.twinx()
    twin.plot([100 * h[1] for h in history], color="tab:orange")
    twin.set(ylabel="test accuracy (%)")
    twin.yaxis.label.set_color("tab:orange")
    wrong = np.flatnonzero(labels != guesses)[:6]
    shown = np.concatenate([wrong, np.flatnonzero(labels == guesses)[: 18 - len(wrong)]])
    for axes, i in zip(right.subplots(3, 6).ravel(), shown, strict=True):
        axes.imshow(images[i, 0], cmap="gray_r")
        axes.set_axis_off()
        axes.set_title(f"{guesses[i]}", color="green" if guesses[i] == labels[i] else "red", fontsize=12)
    right.suptitle("predictions (red: wrong)")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def deploy(model: nn.Layer, images: np.ndarray, out: Path) -> np.ndarray:
    """Saves the inference model and runs it in a process that has only the runtime; returns its logits."""
    model.eval()
    spec = paddle.static.InputSpec([None, 1, 8, 8], "float32", name="images")
    paddle.jit.save(model, str(out / "digits"), input_spec=[spec])
    np.save(out / "images.npy", images)
    subprocess.run(
        [sys.executable, "-c", DEPLOYED, str(out / "digits"), str(out / "images.npy"), str(out / "logits.npy")],
        check=True,
    )
    return np.load(out / "logits.npy")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=30, help="passes over the training data")
    parser.add_argument("--batch", type=int, default=64, help="images in a batch")
    parser.add_argument("--seed", type=int, default=0, help="of the parameters, the split and the order of the batches")
    parser.add_argument("--eager", action="store_true", help="train without @declarative, for comparison")
    parser.add_argument(
        "--code", action="store_true", help="print all of the transformed source, not only its beginning"
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the saved model and the picture")
    options = parser.parse_args()
    if options.epochs < 1 or options.batch < 1:
        parser.error("--epochs and --batch must be at least 1")
    options.out.mkdir(parents=True, exist_ok=True)

    paddle.seed(options.seed)
    data = load_digits(options.seed)
    x, y, x_test, y_test = data
    eager, model = DigitNet(), DigitNet()
    model.set_state_dict(eager.state_dict())
    paddle.jit.to_static(model)
    trained = eager if options.eager else model

    start = time.perf_counter()
    loss_of(model, paddle.to_tensor(x[:64]), paddle.to_tensor(y[:64]))
    print(
        f"first call of the decorated model (trace, compile or load from the cache): {time.perf_counter() - start:.2f} s\n"
    )
    text = model.forward.side_by_side().splitlines()
    print("the transformed source, with the user's lines on the left:")
    print("\n".join(text if options.code else text[:40]))
    if not options.code and len(text) > 40:
        print(f"... {len(text) - 40} more lines: --code prints all")
    print()
    compare_speed(eager, model, x, y)
    print()

    start = time.perf_counter()
    history = train(trained, data, options.epochs, options.batch, options.seed)
    best = history[-1][1]
    print(
        f"trained {options.epochs} epochs in {time.perf_counter() - start:.1f} s: loss {history[-1][0]:.4f}, test accuracy {best:.2%}"
    )

    if options.eager:
        model.set_state_dict(eager.state_dict())
    else:
        eager.set_state_dict(model.state_dict())
    eager.eval()
    logits = deploy(model, x_test, options.out)
    with paddle.no_grad():
        parts = [eager(paddle.to_tensor(part))[0].numpy() for part in np.split(x_test, [1, 8])]
    difference = float(np.abs(logits - np.concatenate(parts)).max())
    print(f"the saved model, run by dy2st_runtime alone, differs from eager by at most {difference:.1e}")
    model.eval()
    print(f"one image at a time, {early_exits(model, x_test):.0%} of the test images leave by the early exit")
    picture = options.out / "digits.png"
    draw(history, x_test, y_test, logits.argmax(1), picture)
    print(f"learning curve and predictions: {picture}")
    if difference > 1e-3:
        print("error: the saved model and the eager model disagree", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
