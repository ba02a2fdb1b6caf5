# A compiled norm beside PyTorch's.
import pathlib

import torch

import rmsnorm

target, place = ("native", "cuda") if torch.cuda.is_available() else ("sim:sm_90", "cpu")
module = rmsnorm.compile(pathlib.Path("examples/llama3_8b.mlir"), target=target)  # or rmsnorm.load("llama3_8b.rmsn")
x, weight = torch.randn(5, 4096).bfloat16().to(place), torch.rand(4096).bfloat16().to(place)
y = module["llama3_8b"](x, weight)
print(module, torch.allclose(y, torch.nn.functional.rms_norm(x, (4096,), weight, 1e-5), rtol=2**-7))
