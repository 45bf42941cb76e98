# From "解读PaddlePaddle设计思想" (the design of Paddle 1.x): a program of three blocks.
# Mended: nothing; the lines at the end run it and print the blocks.
import dy2st.fluid as fluid
import numpy as np

x = fluid.data(name='x', shape=[1], dtype='int64') # block 0
y = fluid.data(name='y', shape=[1], dtype='int64') # block 0

def true_block():
    return fluid.layers.fill_constant(dtype='int64', value=1, shape=[1]) # block 1

def false_block():
    return fluid.layers.fill_constant(dtype='int64', value=0, shape=[1]) # block 2

condition = fluid.layers.less_than(x, y) # block 0

out = fluid.layers.cond(condition, true_block, false_block) # block 0

print(fluid.default_main_program().num_blocks)
exe = fluid.Executor(fluid.CPUPlace())
for a, b in ((1, 2), (2, 1)):
    print(exe.run(feed={'x': np.array([a]), 'y': np.array([b])}, fetch_list=[out]))
