# From the blog post "PaddlePaddle的静态图与动态图" (static and dynamic graphs): the same branch in dynamic mode.
# Mended: nothing.
import dy2st.fluid as fluid
import numpy as np

fluid.enable_imperative()# 该接口打开动态图模式。

x_np = np.random.rand(1).astype("float32")
y_np = np.random.rand(1).astype("float32")

x = fluid.dygraph.to_variable( x_np )
y = fluid.dygraph.to_variable( y_np )
z = x + y if x > y else x -y
print(z.numpy())
