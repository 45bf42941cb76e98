# From the announcement of Paddle 1.8 (机器之心): a hook that changes the input of a layer, and its removal.
# Mended: the hook gets the inputs as a tuple, so it doubles `input[0]`; the last line prints what the hook did.
import dy2st.fluid as fluid
import numpy as np


# forward_pre_hook函数修改了layer的输入:input = input * 2
def forward_pre_hook(layer, input):
    # 改变输入值
    input_return = (input[0] * 2)
    return input_return


fluid.enable_imperative()

linear = fluid.Linear(13, 5, dtype="float32")

# 注册hook
forward_pre_hook_handle = linear.register_forward_pre_hook(forward_pre_hook)

value0 = np.arange(26).reshape(2, 13).astype("float32")
in0 = fluid.dygraph.to_variable(value0)
out0 = linear(in0)

# 移除hook
forward_pre_hook_handle.remove()

value1 = value0 * 2
in1 = fluid.dygraph.to_variable(value1)
out1 = linear(in1)

print(np.array_equal(out0.numpy(), out1.numpy()))
