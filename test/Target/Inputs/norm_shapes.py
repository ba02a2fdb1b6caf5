"""Prints a module with one norm for each row size. Usage: norm_shapes.py TYPE SIZE..."""
import sys

element = sys.argv[1]
for size in sys.argv[2:]:
    rows, weight = f"tensor<?x{size}x{element}>", f"tensor<{size}x{element}>"
    print(f"""
func.func @n{size}(%x: {rows}, %weight: {weight}) -> {rows} {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : {rows}
  %empty = tensor.empty(%rows) : {rows}
  %y = rmsnorm.forward input(%x : {rows}) weight(%weight : {weight})
      output(%empty : {rows}) eps = 1.0e-05 -> {rows}
  return %y : {rows}
}}""")
