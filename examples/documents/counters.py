# From the blog post "PaddlePaddle的静态图与动态图" (static and dynamic graphs): the loop over two counters that it shows
# for two other frameworks, here as a static program and in dynamic mode.
# Mended: written with fluid's while_loop and with Python's while, in place of the other frameworks' names.
import dy2st.fluid as fluid
import numpy as np

main = fluid.Program()
with fluid.program_guard(main):
    first_counter = fluid.layers.fill_constant(shape=[1], dtype="int64", value=0)
    second_counter = fluid.layers.fill_constant(shape=[1], dtype="int64", value=10)

    def cond(first_counter, second_counter, *args):
        return fluid.layers.less_than(first_counter, second_counter)

    def body(first_counter, second_counter):
        first_counter = fluid.layers.elementwise_add(first_counter, np.array([2]))
        second_counter = fluid.layers.elementwise_add(second_counter, np.array([1]))
        return first_counter, second_counter

    c1, c2 = fluid.layers.while_loop(cond, body, [first_counter, second_counter])
counter_1_res, counter_2_res = fluid.Executor().run(main, fetch_list=[c1, c2])
print(counter_1_res)
print(counter_2_res)

with fluid.dygraph.guard():
    first_counter = fluid.dygraph.to_variable(np.array([0.0], dtype="float32"))
    second_counter = fluid.dygraph.to_variable(np.array([10.0], dtype="float32"))
    while (first_counter < second_counter)[0]:
        first_counter += 2
        second_counter += 1
    print(first_counter.numpy())
    print(second_counter.numpy())
