# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints programs and mutations of them, @NAME__MUTATION, for norm-mutants: another casting,
values that are not rounded where the program rounds them, or rounded where it does not, and what
shows in special rows of the data alone."""
import itertools

N = 4096
TYPES = {"bf16": "bf16", "f16": "f16"}


def header(t):
    return f"""  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x{N}x{t}>
  %e = tensor.empty(%m) : tensor<?x{N}x{t}>
  %ef = tensor.empty(%m) : tensor<?x{N}xf32>
"""


def generic(result, inputs, outputs, body, yields, maps=None):
    """inputs, outputs: (value, element type); elementwise on rows, or per column."""
    kinds = {"row": "(d0, d1)", "column": "(d1)"}
    places = [kinds[p] for *_, p in inputs] + [kinds["row"]] * len(outputs)
    affine = ", ".join(f"affine_map<(d0, d1) -> {p}>" for p in places)
    shape = {"row": f"?x{N}x", "column": f"{N}x"}
    ins = ", ".join(v for v, *_ in inputs) + " : " + ", ".join(f"tensor<{shape[p]}{t}>" for _, t, p in inputs)
    types = ", ".join(f"tensor<?x{N}x{t}>" for _, t in outputs)
    outs = ", ".join(v for v, _ in outputs) + " : " + types
    arguments = ", ".join([f"%a{i}: {t}" for i, (_, t, _) in enumerate(inputs)] +
                          [f"%o{i}: {t}" for i, (_, t) in enumerate(outputs)])
    lines = "".join(f"    {line}\n" for line in body)
    count = f":{len(outputs)}" if len(outputs) > 1 else ""
    return (f'  {result}{count} = linalg.generic {{indexing_maps = [{affine}], iterator_types = ["parallel", "parallel"]}}'
            f" ins({ins}) outs({outs}) {{\n  ^bb0({arguments}):\n{lines}"
            f"    linalg.yield {', '.join(yields)} : {', '.join(t for _, t in outputs)}\n  }} -> "
            f"{types if len(outputs) == 1 else '(' + types + ')'}\n")


def norm(result, x, tx, w, tw, out, to, attributes="", eps="1.0e-05"):
    weight = f" weight({w} : tensor<{N}x{tw}>)" if w else ""
    return (f"  {result} = rmsnorm.forward input({x} : tensor<?x{N}x{tx}>){weight} output({out} : tensor<?x{N}x{to}>)"
            f" eps = {eps}{attributes} -> tensor<?x{N}x{to}>\n")


def function(name, arguments, body, results):
    types = ", ".join(t for _, t in results)
    return (f"func.func @{name}({arguments}) -> ({types}) {{\n{body}"
            f"  return {', '.join(v for v, _ in results)} : {types}\n}}")


def castings():
    """Each casting's kernels against the oracle of each other one."""
    for t, casting, other in itertools.product(TYPES, ("gemma", "llama", "none"), ("gemma", "llama", "none")):
        name = f"{casting}_{t}" + (f"__{other}" if other != casting else "")
        rows, vector = f"tensor<?x{N}x{t}>", f"tensor<{N}x{t}>"
        yield function("forward_" + name, f"%x: {rows}, %w: {vector}",
                       header(t) + norm("%y", "%x", t, "%w", t, "%e", t, f" casting = {other}"), [("%y", rows)])
        yield function("backward_" + name, f"%dy: {rows}, %x: {rows}, %w: {vector}, %r: tensor<?xf32>",
                       header(t) + f"""  %dw = tensor.empty() : tensor<{N}xf32>
  %g:2 = rmsnorm.backward dy(%dy : {rows}) input(%x : {rows}) weight(%w : {vector}) rstd(%r : tensor<?xf32>) dx(%e : {rows})
      dweight(%dw : tensor<{N}xf32>) eps = 1.0e-05 casting = {other} -> {rows}, tensor<{N}xf32>
""", [("%g#0", rows), ("%g#1", f"tensor<{N}xf32>")])


def roundings():
    for t in TYPES:
        rows, vector = f"tensor<?x{N}x{t}>", f"tensor<{N}x{t}>"
        # The norm of a residual sum that is not rounded.
        arguments = f"%x: {rows}, %r: {rows}, %w: {vector}"
        add = f"  %h = linalg.add ins(%x, %r : {rows}, {rows}) outs(%e : {rows}) -> {rows}\n"
        yield function(f"residual_{t}", arguments, header(t) + add + norm("%y", "%h", t, "%w", t, "%e", t),
                       [("%y", rows), ("%h", rows)])
        yield function(f"residual_{t}__unrounded", arguments, header(t) + generic(
            "%h", [("%x", t, "row"), ("%r", t, "row")], [("%e", t), ("%ef", "f32")],
            [f"%p = arith.extf %a0 : {t} to f32", f"%q = arith.extf %a1 : {t} to f32", "%s = arith.addf %p, %q : f32",
             f"%n = arith.truncf %s : f32 to {t}"], ["%n", "%s"]) + norm("%y", "%h#1", "f32", "%w", t, "%e", t),
            [("%y", rows), ("%h#0", rows)])
        # A norm's output that is not rounded before it is multiplied.
        arguments = f"%x: {rows}, %z: {rows}, %w: {vector}"
        yield function(f"product_{t}", arguments, header(t) + norm("%y", "%x", t, "%w", t, "%e", t) +
                       f"  %p = linalg.mul ins(%y, %z : {rows}, {rows}) outs(%e : {rows}) -> {rows}\n", [("%p", rows)])
        yield function(f"product_{t}__unrounded", arguments, header(t) + norm("%y", "%x", t, "%w", t, "%ef", "f32") + generic(
            "%p", [("%y", "f32", "row"), ("%z", t, "row")], [("%e", t)],
            [f"%q = arith.extf %a1 : {t} to f32", "%s = arith.mulf %a0, %q : f32", f"%n = arith.truncf %s : f32 to {t}"], ["%n"]),
            [("%p", rows)])
        # weight + 1 that is rounded.
        arguments = f"%x: {rows}, %w: {vector}"
        yield function(f"offset_{t}", arguments, header(t) + norm("%y", "%x", t, "%w", t, "%e", t, " offset = 1.0"), [("%y", rows)])
        yield function(f"offset_{t}__rounded", arguments, header(t) + norm("%y", "%x", t, None, t, "%ef", "f32") +
                       "  %one = arith.constant 1.0 : f32\n" + generic(
            "%p", [("%y", "f32", "row"), ("%w", t, "column")], [("%e", t)],
            [f"%q = arith.extf %a1 : {t} to f32", "%v = arith.addf %q, %one : f32", f"%k = arith.truncf %v : f32 to {t}",
             f"%l = arith.extf %k : {t} to f32", "%s = arith.mulf %a0, %l : f32", f"%n = arith.truncf %s : f32 to {t}"], ["%n"]),
            [("%p", rows)])
        # dx that is not rounded before a gradient is added.
        arguments = f"%dy: {rows}, %x: {rows}, %w: {vector}, %r: tensor<?xf32>, %dh: {rows}"

        def backward(out, to):
            return (f"  %g = rmsnorm.backward dy(%dy : {rows}) input(%x : {rows}) weight(%w : {vector}) rstd(%r : tensor<?xf32>)"
                    f" dx({out} : tensor<?x{N}x{to}>) eps = 1.0e-05 -> tensor<?x{N}x{to}>\n")

        yield function(f"gradient_{t}", arguments, header(t) + backward("%e", t) +
                       f"  %p = linalg.add ins(%g, %dh : {rows}, {rows}) outs(%e : {rows}) -> {rows}\n", [("%p", rows)])
        yield function(f"gradient_{t}__unrounded", arguments, header(t) + backward("%ef", "f32") + generic(
            "%p", [("%g", "f32", "row"), ("%dh", t, "row")], [("%e", t)],
            [f"%q = arith.extf %a1 : {t} to f32", "%s = arith.addf %a0, %q : f32", f"%n = arith.truncf %s : f32 to {t}"], ["%n"]),
            [("%p", rows)])


def specials():
    """What differs for NaNs, ties, and norms of tiny rows."""
    for t in TYPES:
        rows, vector = f"tensor<?x{N}x{t}>", f"tensor<{N}x{t}>"
        # A clamp and a row's maximum that propagate NaNs.
        for mutation, most, least, largest in (("", "maximumf", "minimumf", "maximumf"),
                                               ("__maxnum", "maxnumf", "minimumf", "maximumf"),
                                               ("__minnum", "maximumf", "minnumf", "maximumf"),
                                               ("__largest", "maximumf", "minimumf", "maxnumf")):
            yield function(f"clamp_{t}{mutation}", f"%x: {rows}, %w: {vector}", header(t) + norm("%y", "%x", t, "%w", t, "%ef", "f32") +
                           "  %low = arith.constant -1.0 : f32\n  %high = arith.constant 1.0 : f32\n" +
                           generic("%p", [("%y", "f32", "row")], [("%e", t)],
                                   [f"%q = arith.{most} %a0, %low : f32", f"%r = arith.{least} %q, %high : f32",
                                    f"%n = arith.truncf %r : f32 to {t}"], ["%n"]) +
                           f"""  %zero = arith.constant 0.0 : f32
  %scalars = tensor.empty(%m) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?xf32>) -> tensor<?xf32>
  %l = linalg.reduce ins(%y : tensor<?x{N}xf32>) outs(%zeros : tensor<?xf32>) dimensions = [1] (%in: f32, %most: f32) {{
    %a = math.absf %in : f32
    %b = arith.{largest} %a, %most : f32
    linalg.yield %b : f32
  }}
""", [("%p", rows), ("%l", "tensor<?xf32>")])
        # Ties, of what is exact.
        for mutation, rounding in ("", "roundeven"), ("__away", "round"):
            yield function(f"ties_{t}{mutation}", f"%x: {rows}, %r: {rows}, %w: {vector}", header(t) +
                           norm("%y", "%x", t, "%w", t, "%ef", "f32") + generic(
                "%p", [("%y", "f32", "row"), ("%r", t, "row")], [("%ef", "f32")],
                [f"%q = arith.extf %a1 : {t} to f32", f"%k = math.{rounding} %q : f32", "%s = arith.addf %a0, %k : f32"], ["%s"]),
                [("%p", f"tensor<?x{N}xf32>")])
        # The eps of a norm after a norm.
        for mutation, eps in ("", "1.0e-06"), ("__eps", "1.25e-06"):
            yield function(f"behind_{t}{mutation}", f"%x: {rows}, %h: {rows}, %w: {vector}, %v: {vector}", header(t) +
                           norm("%y", "%x", t, "%w", t, "%e", t, eps="1.0e-06") +
                           f"  %s = linalg.add ins(%h, %y : {rows}, {rows}) outs(%e : {rows}) -> {rows}\n" +
                           norm("%z", "%s", t, "%v", t, "%e", t, eps=eps), [("%z", rows), ("%s", rows)])


print("\n".join([*castings(), *roundings(), *specials()]))
