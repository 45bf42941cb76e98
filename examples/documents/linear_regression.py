# From "解读PaddlePaddle设计思想" (the design of Paddle 1.x): linear regression, from the definition of the program to
# one step of training; also that print(loss) shows a variable, and that the program survives its wire format.
# Mended: nothing; the lines from `weight` on are new.
#加载函数库
import dy2st.fluid as fluid #block 0
import numpy

#定义数据
train_data=numpy.array([[1.0],[2.0],[3.0],[4.0]]).astype('float32')
y_true = numpy.array([[2.0],[4.0],[6.0],[8.0]]).astype('float32')

#定义网络
x = fluid.data(name="x",shape=[None, 1],dtype='float32')
y = fluid.data(name="y",shape=[None, 1],dtype='float32')
y_predict = fluid.layers.fc(input=x,size=1,act=None)
#定义损失函数
cost = fluid.layers.square_error_cost(input=y_predict,label=y)
avg_cost = fluid.layers.mean(cost)
#定义优化方法
sgd_optimizer = fluid.optimizer.SGD(learning_rate=0.01)
sgd_optimizer.minimize(avg_cost)

print(fluid.default_main_program().to_string(True))
print(avg_cost)

#在CPU内执行训练
cpu = fluid.CPUPlace()
exe = fluid.Executor(cpu)

#参数初始化
exe.run(fluid.default_startup_program())

#开始训练
outs = exe.run(
    feed={'x':train_data,'y':y_true},
    fetch_list=[y_predict.name,avg_cost.name])
print(outs)

weight = numpy.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor())
print(weight)

program = fluid.Program.parse_from_string(fluid.default_main_program().desc.serialize_to_string())
outs = exe.run(
    program,
    feed={'x':train_data,'y':y_true},
    fetch_list=[y_predict.name,avg_cost.name])
print(outs)
