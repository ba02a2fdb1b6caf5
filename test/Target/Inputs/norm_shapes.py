"""Prints a module with a norm for each row size.

Usage: norm_shapes.py TYPE [backward] SIZE...

Forward entries are called nN, backward ones bN: dy, x, weight and rstd to dx of
TYPE and dweight in f32."""
import sys

element, *sizes = sys.argv[1:]
backward = sizes[:1] == ["backward"]
for size in sizes[backward:]:
    rows, weight = f"tensor<?x{size}x{element}>", f"tensor<{size}x{element}>"
    if backward:
        print(f"""
func.func @b{size}(%dy: {rows}, %x: {rows}, %weight: {weight}, %rstd: tensor<?xf32>)
    -> ({rows}, tensor<{size}xf32>) {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : {rows}
  %empty = tensor.empty(%rows) : {rows}
  %empty_weight = tensor.empty() : tensor<{size}xf32>
  %dx, %dweight = rmsnorm.backward dy(%dy : {rows}) input(%x : {rows})
      weight(%weight : {weight}) rstd(%rstd : tensor<?xf32>) dx(%empty : {rows})
      dweight(%empty_weight : tensor<{size}xf32>) eps = 1.0e-05
      -> {rows}, tensor<{size}xf32>
  return %dx, %dweight : {rows}, tensor<{size}xf32>
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
