# From the blog post "PaddlePaddle的静态图与动态图" (static and dynamic graphs): a static program with a branch.
# Mended: nothing.
import dy2st.fluid as fluid
import numpy as np

x_np = np.random.rand(1).astype("float32")
y_np = np.random.rand(1).astype("float32")

x = fluid.data( shape=[1], name="x", dtype="float32")
y = fluid.data( shape=[1], name="y", dtype="float32")
z = fluid.layers.cond( x > y, lambda: x + y, lambda: x -y)

exe = fluid.Executor()
out = exe.run(fluid.default_main_program(),
              feed={ "x" : x_np, "y" : y_np},
              fetch_list=[z])
print( out )
