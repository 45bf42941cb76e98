"""The workloads.

Each module is one model: its sizes, its data from a seed, and for each framework the model and the step as its users write them. It has

    CASES     what can be measured: name -> description; the names begin with `train`, `infer` or `grad`
    on_paddle(paddle, stage, case)    for dy2st and PaddlePaddle, whose programs are the same
    on_torch(torch, stage, case)
    on_jax(jax, case)

which build the model and return a function without arguments that does one step and returns its results: the loss, the outputs, or the
gradients. `stage` is applied to the model (or function): `to_static`, `torch.compile`, `torch.jit.script`, or nothing in eager mode.
A framework that cannot do the workload raises `Refused` with the reason.

`char_lstm`, `ctc`, `reinforce`, `seq2seq` and `unet` are there for `python -m benchmarks eager`: they have `on_paddle` only.
"""

MODULES = ("mlp_branch", "autoencoder", "mnist_cnn", "lstm_language_model", "dynamic_rnn", "scalar_loop", "gru_decoder", "newton",
           "resnet50", "mobilenet_v2", "transformer_encoder", "bert_base", "attention")  # fmt: skip
