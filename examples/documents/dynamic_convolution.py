# From the blog post "PaddlePaddle的静态图与动态图" (static and dynamic graphs): the convolution in dynamic mode.
# Mended: nothing.
from dy2st.fluid.dygraph.base import to_variable
import dy2st.fluid as fluid
from dy2st.fluid.dygraph import Conv2D
import numpy as np

x = np.random.rand(1, 3, 32, 32).astype("float32")

with fluid.dygraph.guard():
    conv2d = Conv2D(num_channels=3,
                    num_filters=2,
                    filter_size=3,
                    act='relu')
    data = to_variable(x)
    conv = conv2d(data)
    print(conv.numpy())
