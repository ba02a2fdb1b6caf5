# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: whole models by torch.compile, compiled entries as operators, RMSNorm as a module.

    model = torch.compile(model, backend="rmsnorm")              # the norms of a model, and the work around them
    forward = rmsnorm.torch.operator(module["forward"])          # torch.compile keeps it
    forward = rmsnorm.torch.function(module["forward"])          # and costs less without torch.compile
    norm = rmsnorm.torch.RMSNorm(4096, eps=1e-5, dtype=torch.bfloat16, module=rmsnorm.torch.compile(4096, 1e-5, torch.bfloat16))
"""
from .backend import backend, enable, report
from .modules import RMSNorm, compile, source
from .operators import Gradient, function, operator

__all__ = ["Gradient", "RMSNorm", "backend", "compile", "enable", "function", "operator", "report", "source"]
