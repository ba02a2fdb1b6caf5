"""Prints a module with a norm for each row size.

Usage: norm_shapes.py TYPE [forward|add|backward|recomputed] SIZE...

Forward entries are called nN, and aN where a residual is added first: to the norm and
the sum. Backward ones are called bN: dy, x, weight and rstd to
dx of TYPE and dweight in f32; or, where rstd is recomputed, rN: to dweight of TYPE."""
import sys

element, *sizes = sys.argv[1:]
kind = sizes.pop(0) if sizes[0] in ("forward", "add", "backward", "recomputed") else "forward"
for size in sizes:
    rows, weight = f"tensor<?x{size}x{element}>", f"tensor<{size}x{element}>"
    if kind == "add":
        print(f"""
func.func @a{size}(%x: {rows}, %residual: {rows}, %weight: {weight}) -> ({rows}, {rows}) {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : {rows}
  %empty = tensor.empty(%rows) : {rows}
  %h = linalg.elementwise kind=#linalg.elementwise_kind<add>
      ins(%x, %residual : {rows}, {rows}) outs(%empty : {rows}) -> {rows}
  %y = rmsnorm.forward input(%h : {rows}) weight(%weight : {weight})
      output(%empty : {rows}) eps = 1.0e-05 -> {rows}
  return %y, %h : {rows}, {rows}
}}""")
        continue
    if kind != "forward":
        given = kind == "backward"
        sums = f"tensor<{size}x{'f32' if given else element}>"
        print(f"""
func.func @{kind[0]}{size}(%dy: {rows}, %x: {rows}, %weight: {weight}{", %rstd: tensor<?xf32>" if given else ""})
    -> ({rows}, {sums}) {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : {rows}
  %empty = tensor.empty(%rows) : {rows}
  %empty_weight = tensor.empty() : {sums}
  %dx, %dweight = rmsnorm.backward dy(%dy : {rows}) input(%x : {rows})
      weight(%weight : {weight}){" rstd(%rstd : tensor<?xf32>)" if given else ""} dx(%empty : {rows})
      dweight(%empty_weight : {sums}) eps = 1.0e-05
      -> {rows}, {sums}
  return %dx, %dweight : {rows}, {sums}
}}""")
        continue
    print(f"""
func.func @n{size}(%x: {rows}, %weight: {weight}) -> {rows} {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : {rows}
  %empty = tensor.empty(%rows) : {rows}
  %y = rmsnorm.forward input(%x : {rows}) weight(%weight : {weight})
      output(%empty : {rows}) eps = 1.0e-05 -> {rows}
  return %y : {rows}
}}""")
