# From the announcement of Paddle 1.8 (机器之心): the gradient of a gradient.
# Mended: the colon after `with`, the import, and `create_graph`, which the original leaves to the reader.
import dy2st.fluid as fluid

create_graph = True
with fluid.enable_imperative(): # 激活动态图模式
    x = fluid.layers.ones(shape=[1], dtype='float32')
    x.stop_gradient = False
    y = x * x

    # Since y = x * x, dx = 2 * x
    # 调用grad方法
    dx = fluid.dygraph.grad(
        outputs=[y],
        inputs=[x],
        create_graph=create_graph,
        retain_graph=True)[0]
    z = y + dx
    z.backward() # double grad计算
    print(x.gradient())
