# From the article "PaddlePaddle 动态图" (dynamic graphs in Paddle 1.5): the first example, a branch on NumPy values
# whose arrays go straight into fluid.layers.
# Mended: the imports, which the article leaves out, and the indentation.
import dy2st.fluid as fluid
import numpy as np

input0 = np.random.randint(low=1, high=5, size=(2,))
input1 = np.random.randint(low=1, high=5, size=(2,))
# print(inp1, inp2)
with fluid.dygraph.guard():
    if np.sum(input0) < np.sum(input1):
        x = fluid.layers.elementwise_add(input0, input1)
    else:
        x0 = fluid.layers.elementwise_sub(input0, input1)
        x = fluid.layers.elementwise_sub(x0, input1)
    print(x.numpy())
