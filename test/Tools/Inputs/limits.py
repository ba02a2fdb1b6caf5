# Writes a norm that has too much of one thing for a module.
import sys

kind = sys.argv[1]
name, row, more = "f", "4x64", ""
if kind == "rank":
    row = "1x1x1x1x1x1x1x1x64"
elif kind == "empty":
    name = ""
elif kind == "control":
    name = "a\\0Ab"
elif kind == "long":
    name = "f" * 1025
elif kind == "longest":
    name = "f" * 1024
elif kind == "arguments":
    more = "".join(f", %a{i}: tensor<4xf32>" for i in range(63))
elif kind == "symbols":
    more = "".join(f", %a{i}: tensor<?x?xf32>" for i in range(33))
tensor = f"tensor<{row}xf32>"
print(f"""func.func @"{name}"(%x: {tensor}{more}, %e: {tensor}) -> {tensor} {{
  %y = rmsnorm.forward input(%x : {tensor}) output(%e : {tensor}) eps = 1.0e-5 -> {tensor}
  return %y : {tensor}
}}""")
