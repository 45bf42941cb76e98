"""Scaled dot-product attention alone, 8 heads of 64, over sequences from those of BERT to long ones; with its gradients."""

from .common import Refused, jax_call, normal

HEADS, SIZE = 8, 64
LENGTHS = (128, 512, 2048)
CASES = {f"infer{n}": f"length {n}" for n in LENGTHS} | {f"grad{n}": f"length {n}, with the gradients" for n in LENGTHS}


def data(case):
    length = int("".join(filter(str.isdigit, case)))
    return [normal(seed, 1, length, HEADS, SIZE) for seed in (1, 2, 3)]


def on_paddle(paddle, stage, case):
    tensors = [paddle.to_tensor(x, stop_gradient=case.startswith("infer")) for x in data(case)]
    attend = paddle.nn.functional.scaled_dot_product_attention
    if case.startswith("infer"):
        model = stage(lambda q, k, v: attend(q, k, v))
        return paddle.no_grad()(lambda: model(*tensors))
    model = stage(lambda q, k, v: (attend(q, k, v) ** 2).sum())
    return stage.step(lambda: paddle.grad(model(*tensors), tensors))


def on_torch(torch, stage, case):
    if stage is torch.jit.script:
        raise Refused("a lambda has no script")
    tensors = [torch.tensor(x, requires_grad=not case.startswith("infer")) for x in data(case)]

    def attend(q, k, v):
        heads = torch.nn.functional.scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v)))
        return heads.transpose(1, 2)

    if case.startswith("infer"):
        model = stage(attend)
        return torch.no_grad()(lambda: model(*tensors))
    model = stage(lambda q, k, v: (attend(q, k, v) ** 2).sum())
    return lambda: torch.autograd.grad(model(*tensors), tensors)


def on_jax(jax, case):
    attend = jax.nn.dot_product_attention
    if case.startswith("infer"):
        return jax_call(jax, attend, *data(case))
    return jax_call(jax, jax.grad(lambda q, k, v: (attend(q, k, v) ** 2).sum(), argnums=(0, 1, 2)), *data(case))
