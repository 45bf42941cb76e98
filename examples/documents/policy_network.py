# From the article "PaddlePaddle 动态图" (dynamic graphs in Paddle 1.5): the policy network, a Layer whose FC layers
# learn the size of their input at the first call; then what the text says of loss.backward() and loss.gradient().
# Mended: the imports and the lines that use the class, which the article describes in words.
import dy2st.fluid as fluid
import dy2st.fluid.dygraph.nn as nn
import numpy as np


class Policy(fluid.dygraph.Layer):
    def __init__(self, name_scope):
        super(Policy, self).__init__(name_scope)
        self.affine1 = nn.FC(self.full_name(), size=128)
        self.affine2 = nn.FC(self.full_name(), size=2)
        self.dropout_ratio = 0.6
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = fluid.layers.reshape(x, shape=[1, 4])
        x = self.affine1(x)
        x = fluid.layers.dropout(x, self.dropout_ratio)
        x = fluid.layers.relu(x)
        action_scores = self.affine2(x)
        self._x_for_debug = x
        return fluid.layers.softmax(action_scores, axis=1)


with fluid.dygraph.guard():
    policy = Policy("PolicyModel")
    state = fluid.dygraph.to_variable(np.array([0.1, -0.2, 0.3, 0.4], dtype="float32"))
    probabilities = policy(state)
    print(probabilities.numpy())
    loss = fluid.layers.reduce_sum(probabilities * probabilities)
    loss.backward()
    print(loss.gradient())
    print(policy.affine2.weight.gradient().shape)
