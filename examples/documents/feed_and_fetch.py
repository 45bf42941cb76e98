# From "解读PaddlePaddle设计思想" (the design of Paddle 1.x), section 3: an Executor, and a run that feeds and fetches by name.
# Mended: `...`, which stands for the program, is a small one: the mean of X.
import dy2st.fluid as fluid
import numpy

X = fluid.data(name='X', shape=[None, 1], dtype='float32')
loss = fluid.layers.mean(X)

cpu=fluid.CPUPlace()
exe = fluid.Executor(cpu)

x = numpy.random.random(size=(10, 1)).astype('float32')
outs = exe.run(
    feed={'X': x},
    fetch_list=[loss.name])

print(outs)
