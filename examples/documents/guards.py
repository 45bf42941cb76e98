# From "解读PaddlePaddle设计思想" (the design of Paddle 1.x): the reader's notes at the end: a model built in programs of
# its own, with names that start anew; what it returns are variables, not values.
# Mended: `build_model`, `dataset` and `config`, which the notes do not show, are small stand-ins.
import dy2st.fluid as fluid


def build_model(dataset, config, phase, main_prog):
    image = fluid.data(name="image", shape=[None, dataset], dtype="float32")
    label = fluid.data(name="label", shape=[None, 1], dtype="int64")
    pred = fluid.layers.fc(input=image, size=config, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(input=pred, label=label))
    acc = fluid.layers.accuracy(input=pred, label=label)
    return None, loss, acc, pred


dataset, config = 4, 3
train_program, startup_program = fluid.Program(), fluid.Program()
with fluid.program_guard(train_program, startup_program):
    with fluid.unique_name.guard():
        gw, loss, acc, pred = build_model(dataset,
                                          config=config,
                                          phase="train",
                                          main_prog=train_program)

print("type(loss):", type(loss))
print("type(acc):", type(acc))
print("type(pred):", type(pred))
print(loss)
