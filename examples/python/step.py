# The entries of examples/train_step.mlir as an operator with gradients.
import pathlib

import torch

import rmsnorm.torch

target, place = ("native", "cuda") if torch.cuda.is_available() else ("sim:sm_90", "cpu")
module = rmsnorm.compile(pathlib.Path("examples/train_step.mlir"), target=target)
print(module)

step = rmsnorm.torch.operator(module["forward"], rmsnorm.torch.Gradient(
    module["backward"],
    takes=["grad output", "result1", "weight", "rstd", "grad result1"],
    gives=[("arg0", "arg1"), "weight"]))

x, residual = (torch.randn(6, 2048, device=place).bfloat16().requires_grad_() for _ in range(2))
weight = torch.ones(2048, device=place, dtype=torch.bfloat16, requires_grad=True)
y, h, rstd = step(x, residual, weight)
(y.float().square().mean() + h.float().mean()).backward()
print(step)
print("gradients:", *(list(t.grad.shape) for t in (x, residual, weight)))
