# From the announcement of Paddle 1.8 (机器之心): a dynamic model whose forward() becomes a static Program by one decorator,
# and its export for deployment.
# Mended: `to_vairbale`, and `self.pool_2_shape`, which is `self.pool_2_dim`; the image has the one channel that Conv2D
# expects; the imports stand first. `self.pool_2_dim` stays as it is: the reshape then makes more rows.
import dy2st.fluid as fluid
import numpy as np
from dy2st.fluid.dygraph import Conv2D, Linear, Pool2D, declarative, to_variable


class MNIST(fluid.dygraph.Layer):
    def __init__(self):
        super(MNIST, self).__init__()

        self.conv = Conv2D( 1, 20, 5)
        self.pool2d = Pool2D( pool_size=2, pool_stride=2 )
        self.pool_2_dim = 5 * 4 * 4
        self.proj = Linear(self.pool_2_dim, 10,
                           act="softmax")

    @declarative # 添加装饰器,将forward函数内Layers递归地转为静态图的Program执行
    def forward(self, inputs):
        x = self.conv(inputs)
        x = self.pool2d( x )
        x = fluid.layers.reshape( x, [-1, self.pool_2_dim])
        x = self.proj(x)
        return x


fluid.enable_imperative()

prog_trans = fluid.dygraph.ProgramTranslator()

model = MNIST()
in_np = np.random.random( [20, 1, 28, 28]).astype("float32")
in_var = to_variable( in_np )
out = model(in_var)
print(out.shape)

prog_trans.save_inference_model("./dy2stat_infer_model", fetch=[0])
