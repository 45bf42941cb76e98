"""REINFORCE: a policy of 4-64-64-2 acts for 100 steps, one state at a time, with noise that is known before; then a step of Adam."""

import numpy as np

from .common import fill_paddle, normal, paddle_step

CASES = {"train": "an episode and a step of Adam"}
STEPS, STATE, SIZE, ACTIONS, DISCOUNT, RATE = 100, 4, 64, 2, 0.99, 0.001
NOISE = np.random.default_rng(1).gumbel(size=(STEPS, ACTIONS)).astype("float32")
MOVES = 0.3 * normal(2, ACTIONS, STATE, STATE) + 0.5 * np.eye(STATE, dtype="float32")


def on_paddle(paddle, stage, case):
    nn, functional = paddle.nn, paddle.nn.functional
    layers = nn.Linear(STATE, SIZE), nn.Tanh(), nn.Linear(SIZE, SIZE), nn.Tanh(), nn.Linear(SIZE, ACTIONS)
    model = fill_paddle(paddle, nn.Sequential(*layers))
    optimizer = paddle.optimizer.Adam(RATE, parameters=model.parameters())
    model = stage(model)

    def loss():
        state, logs, rewards = np.ones(STATE, "float32"), [], []
        for t in range(STEPS):
            log = functional.log_softmax(model(paddle.to_tensor(state).unsqueeze(0)), axis=-1)
            action = int((log + NOISE[t]).argmax())
            logs.append(log[0, action])
            rewards.append(float(-np.abs(state).sum()))
            state = np.tanh(MOVES[action] @ state + 0.1)
        returns, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + DISCOUNT * total
            returns.append(total)
        returns = np.array(returns[::-1], "float32")
        weights = paddle.to_tensor((returns - returns.mean()) / (returns.std() + 1e-6))
        return -(paddle.stack(logs) * weights).mean()

    return paddle_step(stage, loss, optimizer)
