# From the Paddle 2.2 tutorial "动态图" (dynamic graphs), sections 1 and 2: tensors are computed and printed at once.
# Mended: nothing.
import dy2st as paddle
import dy2st.nn.functional as F
import numpy as np

print(paddle.__version__)

a = paddle.randn([4, 2])
b = paddle.arange(1, 3, dtype='float32')

print(a)
print(b)

c = a + b
print(c)

d = paddle.matmul(a, b)
print(d)
