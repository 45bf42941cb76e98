# From the Paddle 2.2 tutorial "动态图" (dynamic graphs), section 3: Python's control flow on tensors.
# Mended: nothing.
import dy2st as paddle
import numpy as np

a = paddle.to_tensor(np.array([1, 2, 3]))
b = paddle.to_tensor(np.array([4, 5, 6]))

for i in range(10):
    r = paddle.rand([1,])
    if r > 0.5:
        c = paddle.pow(a, i) + b
        print("{} +> {}".format(i, c.numpy()))
    else:
        c = paddle.pow(a, i) - b
        print("{} -> {}".format(i, c.numpy()))
