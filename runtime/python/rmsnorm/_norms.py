# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of RMSNorm that rmsnorm.torch and rmsnorm.jax compile, and the names of their entries. Types are named as in MLIR."""
import struct

# What norms are compiled for.
TYPES = ("f32", "bf16", "f16")


def entry_name(columns, eps, dtype, weight_dtype):
    """What the norms of `source` are named by: all that they are compiled for."""
    bits = struct.unpack("<I", struct.pack("<f", eps))[0]
    return f"rms_norm_{columns}_{dtype}_{weight_dtype or 'none'}_eps{bits:08x}"


def source(columns, eps, dtype, weight_dtype):
    """MLIR of a norm: for inference, for training with what its gradient needs, and its gradient. Without a weight if it has no
    type."""
    name, x = entry_name(columns, eps, dtype, weight_dtype), f"tensor<?x{columns}x{dtype}>"
    weight_argument = weight_operand = dweight = dweight_type = dweight_empty = ""
    if weight_dtype:
        w = f"tensor<{columns}x{weight_dtype}>"
        weight_argument, weight_operand = f", %weight: {w}", f" weight(%weight : {w})"
        dweight_empty = f"\n  %empty_weight = tensor.empty() : {w}"
        dweight, dweight_type = f" dweight(%empty_weight : {w})", f", {w}"
    dx = "%dx, %dweight" if weight_dtype else "%dx"
    eps = repr(float(struct.unpack("<f", struct.pack("<f", eps))[0]))
    eps = eps if "." in eps else eps.replace("e", ".0e")
    rows = f"""%c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : {x}
  %empty = tensor.empty(%rows) : {x}"""
    return f"""func.func @{name}(%x: {x}{weight_argument}) -> {x} {{
  {rows}
  %y = rmsnorm.forward input(%x : {x}){weight_operand} output(%empty : {x}) eps = {eps} -> {x}
  return %y : {x}
}}
func.func @{name}_forward(%x: {x}{weight_argument}) -> ({x}, tensor<?xf32>) {{
  {rows}
  %empty_rstd = tensor.empty(%rows) : tensor<?xf32>
  %y, %rstd = rmsnorm.forward input(%x : {x}){weight_operand} output(%empty : {x}) rstd(%empty_rstd : tensor<?xf32>)
      eps = {eps} -> {x}, tensor<?xf32>
  return %y, %rstd : {x}, tensor<?xf32>
}}
func.func @{name}_backward(%dy: {x}, %x: {x}{weight_argument}, %rstd: tensor<?xf32>) -> ({x}{dweight_type}) {{
  {rows}{dweight_empty}
  {dx} = rmsnorm.backward dy(%dy : {x}) input(%x : {x}){weight_operand} rstd(%rstd : tensor<?xf32>)
      dx(%empty : {x}){dweight} eps = {eps} -> {x}{dweight_type}
  return {dx} : {x}{dweight_type}
}}
"""
