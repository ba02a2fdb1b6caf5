"""Prints a backward of rows of each of the sizes given, with rstd given and
computed. Usage: backward_shapes.py TYPE N...
"""
import sys

t, *sizes = sys.argv[1:]
for n in sizes:
    for rstd in ("", f" rstd(%r : tensor<?xf32>)"):
        name = f"n{n}{'_rstd' if rstd else ''}"
        print(f"""
func.func @{name}(%dy: tensor<?x{n}x{t}>, %x: tensor<?x{n}x{t}>, %w: tensor<{n}x{t}>,{" %r: tensor<?xf32>," if rstd else ""}
    %dx0: tensor<?x{n}x{t}>, %dw0: tensor<{n}x{t}>) -> (tensor<?x{n}x{t}>, tensor<{n}x{t}>) {{
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x{n}x{t}>) input(%x : tensor<?x{n}x{t}>) weight(%w : tensor<{n}x{t}>){rstd}
      dx(%dx0 : tensor<?x{n}x{t}>) dweight(%dw0 : tensor<{n}x{t}>) eps = 1.0e-5 -> tensor<?x{n}x{t}>, tensor<{n}x{t}>
  return %g#0, %g#1 : tensor<?x{n}x{t}>, tensor<{n}x{t}>
}}""")
