# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs functions and their raised versions side by side.

    compare.py INPUT... [--drop=ATTRIBUTE] [--size=N] [--magnitude=S,T]
               [--share=P] [--rounded-sums] [--fewer-roundings] [--row-wise] [--outline | --embed=TARGET,HOST [--options=OPTIONS]]

Each input is raised by norm-opt, decomposed again and, in one program with what
it was, lowered by stock passes and run on the CPU by mlir-runner, on arguments
that are a hash of the indices, integers from 0 to 3 in tensors of i32 and i64, any
in those of i8; a dynamic size is N (7), a scalar 1e-5. With
--embed, what was raised becomes kernels for TARGET, among the same stock passes,
and HOST ("gpu", "direct") is how they are launched, on the simulator unless
RMSNORM_GPU_BACKEND names another device; OPTIONS are more ones of
rmsnorm-embed-memrefs. S and
T are what terms that cancel add up to without their signs, in f32 and in narrower
types. What differs:
the association of f32. So an f32 result may differ in its last bits, a
narrower one may be rounded the other way now and then, in P (0.01) of its
elements, but by one step. With --rounded-sums an f32 result that is reduced may be
a sum over thousands of rows, of the narrowest floats that the function has: it may
differ by one step of those.
NaNs are equal, and so is an infinity to itself. Elements that the program leaves
undefined are not compared: those that differ if other values are in what
tensor.empty gives.
norm-opt, mlir-opt and mlir-runner are found in the PATH, MLIR's libraries in
$LLVM_LIBDIR, ours in $LIBDIR.
With --drop=casting all norms become gemma, to see that this is seen; offset is
another ATTRIBUTE.
With --fewer-roundings gradients lose roundings, so results differ. Both are
compared with the same program in which all narrow floats are f32, or f32 is f64
where there are none: none may be further from that, as the norm of the
difference, than it was. So it also tells errors from what only adds up over a
long program, such as one of many layers.
With --row-wise all reductions of rows may begin kernels.
With --outline what was raised becomes functions of what is one kernel each, and
calls of them, which are inlined: bufferization knows nothing of results of a
call that share memory.
"""

import argparse
import os
import re
import struct
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "forks"))
import forks

PIPELINE = """builtin.module(func.func(convert-elementwise-to-linalg),eliminate-empty-tensors, empty-tensor-to-alloc-tensor,
one-shot-bufferize{bufferize-function-boundaries=true allow-return-allocs-from-loops=true}, func.func(convert-linalg-to-loops, math-expand-ops{ops=fpowi}),
arith-expand{include-bf16=true}, convert-vector-to-scf, convert-scf-to-cf, expand-strided-metadata, lower-affine,
convert-arith-to-llvm, convert-math-to-llvm, convert-math-to-libm, convert-vector-to-llvm, finalize-memref-to-llvm,
convert-func-to-llvm, convert-index-to-llvm, convert-cf-to-llvm, reconcile-unrealized-casts)"""
# The same with our passes among them.
TENSORS = """rmsnorm-embed-tensors,func.func(convert-elementwise-to-linalg),eliminate-empty-tensors,empty-tensor-to-alloc-tensor,
one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map allow-return-allocs-from-loops=true},canonicalize,cse,canonicalize,
buffer-deallocation-pipeline"""
EMBED = """rmsnorm-embed-memrefs{%(options)s},rmsnorm-embed-host{host=%(host)s},gpu-module-to-binary"""
LLVM = """convert-bufferization-to-memref,func.func(convert-linalg-to-loops, math-expand-ops{ops=fpowi}),%(wait)s
arith-expand{include-bf16=true}, convert-vector-to-scf, expand-strided-metadata, lower-affine, convert-scf-to-cf,
convert-math-to-llvm, convert-math-to-libm, finalize-memref-to-llvm{use-generic-functions=1}, gpu-to-llvm, convert-to-llvm, reconcile-unrealized-casts"""
# One step of a type, or what the association of f32 may cost, relative to the
# element or, where terms cancel, to S or T, by default a quarter.
STEP = {"bf16": 2.0**-7, "f16": 2.0**-10, "f32": 2.0**-19, "f8E4M3FN": 0.125, "i8": 0.0}
# Kernels sum up in another order. So what a body rounds on its way may be rounded
# the other way too: that is a second step, and one of an integer.
EMBEDDED_STEP = {**STEP, "bf16": 2 * STEP["bf16"], "f16": 2 * STEP["f16"], "i8": 1.0 / 128}
# Of sums over thousands of rows, one after another.
OF_SUMS = {"f32": 2.0**-15}
# What stands for them in a wider program.
NARROW, SINGLE = {"bf16": "f32", "f16": "f32"}, {"f32": "f64"}
TENSOR = r"tensor<([0-9?x]*)(bf16|f16|f32|i8|i32|i64|f8E4M3FN)>"


parser = argparse.ArgumentParser()
parser.add_argument("inputs", nargs="+")
parser.add_argument("--drop", choices=["casting", "offset"])
parser.add_argument("--fewer-roundings", action="store_true")
parser.add_argument("--row-wise", action="store_true")
parser.add_argument("--size", default="7")
parser.add_argument("--magnitude", type=lambda text: [float(one) for one in text.split(",")], default=[0.25, 0.25])
# Of the elements of a narrow result this share, and one in any case, may be
# rounded the other way.
parser.add_argument("--share", type=float, default=0.01)
parser.add_argument("--rounded-sums", action="store_true")
parser.add_argument("--outline", action="store_true")
parser.add_argument("--embed")
parser.add_argument("--options", default="")
options = parser.parse_args()
if options.embed:
    STEP = EMBEDDED_STEP
# Differences are relative to an element of this magnitude at least.
FLOOR = {"f32": options.magnitude[0], "i8": 128.0}


for folder in ("LLVM_LIBDIR", *(["LIBDIR"] if options.embed else [])):
    if folder not in os.environ:
        sys.exit(f"compare.py: expected a folder of libraries in ${folder}: /usr/lib/llvm-22/lib for LLVM_LIBDIR, build/lib for LIBDIR")


def run(name, *arguments, text=""):
    status, output, errors = forks.call(name, *arguments, text=text)
    if status:
        sys.exit(f"{name} failed:\n{errors}")
    launched = re.findall(r"^rmsnorm: launch of (\S+),", errors, re.M)
    print("".join(f"launched {name} {launched.count(name)} times\n" for name in sorted(set(launched))), end="")
    return output


def functions(text):
    """Name -> (argument types, result types), and the text without its module."""
    found = {}
    for name, arguments, results in re.findall(r"func\.func (?:public )?@(\w+)\((.*?)\)(?: -> (.*?))? \{$", text, re.M):
        found[name] = (re.findall(r"%\w+: ([^,]+)", arguments), re.findall(TENSOR, results or ""))
        # Scalars are numbers.
        others = [kind for kind in found[name][0] if not re.fullmatch(TENSOR + r"|bf16|f16|f32", kind)]
        others += [kind for kind in re.findall(r"[^(), ]+", re.sub(TENSOR, "", results or "")) if kind != "->"]
        others += [f"a result of {element}" for _, element in found[name][1] if element not in STEP]
        if others:
            sys.exit(f"compare.py: @{name}: expected tensors of floats, i8, or, as arguments, i32 and i64, and float scalars as arguments, got {others[0]}")
    lines = text.strip().split("\n")
    return found, "\n".join(lines[1:-1] if lines[0].startswith("module") else lines)


class Program:
    def __init__(self):
        self.functions, self.lines, self.count = [], [], 0

    def new(self, line):
        self.count += 1
        self.lines.append(f"%c{self.count} = {line}")
        return f"%c{self.count}"

    def argument(self, kind, seed):
        match = re.fullmatch(TENSOR, kind)
        if not match:
            return self.new(f"arith.constant 1.0e-05 : {kind}")
        sizes, element = match.groups()
        static = f"tensor<{sizes.replace('?', options.size)}{element}>"
        rank = sizes.count("x")
        dims = ", ".join(f"d{i}" for i in range(rank))
        iterators = ", ".join(['"parallel"'] * rank)
        empty = self.new(f"tensor.empty() : {static}")
        # A hash of the indices, from -2 to 2, more often near 0.
        body = [f"%h0 = arith.constant {seed * 7919 + 17} : i32", "%p = arith.constant 1103515245 : i32", "%q = arith.constant 12345 : i32", "%t = arith.constant 15 : i32"]
        last = "%h0"
        for i in range(rank):
            body += [f"%i{i} = linalg.index {i} : index", f"%j{i} = arith.index_cast %i{i} : index to i32", f"%a{i} = arith.addi {last}, %j{i} : i32",
                     f"%m{i} = arith.muli %a{i}, %p : i32", f"%n{i} = arith.addi %m{i}, %q : i32", f"%s{i} = arith.shrui %n{i}, %t : i32", f"%x{i} = arith.xori %s{i}, %n{i} : i32"]
            last = f"%x{i}"
        body += ["%mask = arith.constant 4095 : i32", f"%k = arith.andi {last}, %mask : i32", "%f = arith.sitofp %k : i32 to f32",
                 "%scale = arith.constant 4.8828125e-4 : f32", "%one = arith.constant 1.0 : f32", "%g = arith.mulf %f, %scale : f32",
                 "%u = arith.subf %g, %one : f32", "%uu = arith.mulf %u, %u : f32", "%v = arith.addf %uu, %one : f32", "%w = arith.mulf %u, %v : f32"]
        value = "%w"
        if element in ("i32", "i64"):
            body += ["%three = arith.constant 3 : i32", "%z32 = arith.andi %k, %three : i32", "%z = " + ("arith.addi %z32, %zero32 : i32" if element == "i32" else "arith.extui %z32 : i32 to i64")]
            body.insert(0, "%zero32 = arith.constant 0 : i32")
            value = "%z"
        elif element == "i8":
            body.append("%z = arith.trunci %k : i32 to i8")
            value = "%z"
        elif element != "f32":
            body.append(f"%z = arith.truncf %w : f32 to {element}")
            value = "%z"
        filled = self.new(f"linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>], iterator_types = [{iterators}]}} outs({empty} : {static}) {{\n"
                          f"^bb0(%o: {element}):\n" + "\n".join(body) + f"\nlinalg.yield {value} : {element} }} -> {static}")
        return filled if static == kind else self.new(f"tensor.cast {filled} : {static} to {kind}")

    def count_elements(self, value, sizes, element):
        """Prints how many `value` has; its sizes may follow from others."""
        total = self.new("arith.constant 1 : index")
        for dim in range(sizes.count("x")):
            number = self.new(f"arith.constant {dim} : index")
            size = self.new(f"tensor.dim {value}, {number} : tensor<{sizes}{element}>")
            total = self.new(f"arith.muli {total}, {size} : index")
        self.lines.append(f"vector.print {total} : index")

    def count_differences(self, a, b, sizes, element, tolerance, but=()):
        """Prints how many elements of `a` and `b` differ, without those that do of the two of `but`."""
        kind = f"tensor<{sizes}{element}>"
        rank = sizes.count("x")
        dims = ", ".join(f"d{i}" for i in range(rank))
        iterators = ", ".join(['"reduction"'] * rank)
        empty = self.new("tensor.empty() : tensor<i64>")
        zero = self.new("arith.constant 0 : i64")
        init = self.new(f"linalg.fill ins({zero} : i64) outs({empty} : tensor<i64>) -> tensor<i64>")
        convert = {"f32": "arith.addf %{0}, %zero : f32", "i8": "arith.sitofp %{0} : i8 to f32"}.get(element, f"arith.extf %{{0}} : {element} to f32")
        body = ["%zero = arith.constant 0.0 : f32", "%x = " + convert.format("a"), "%y = " + convert.format("b"), "%d = arith.subf %x, %y : f32", "%e = math.absf %d : f32",
                "%p = math.absf %x : f32", "%q = math.absf %y : f32", "%l = arith.minimumf %p, %q : f32", f"%floor = arith.constant {FLOOR.get(element, options.magnitude[1])} : f32", "%m = arith.maximumf %l, %floor : f32", f"%s = arith.constant {tolerance} : f32", "%t = arith.mulf %m, %s : f32",
                # NaN equals NaN, an infinity itself. Unordered: with a NaN on one side it differs.
                "%same = arith.cmpf oeq, %x, %y : f32", "%u = arith.cmpf uno, %x, %x : f32", "%v = arith.cmpf uno, %y, %y : f32", "%nans = arith.andi %u, %v : i1",
                "%equal = arith.ori %same, %nans : i1", "%far = arith.cmpf ugt, %e, %t : f32", "%no = arith.constant false", "%c = arith.select %equal, %no, %far : i1"]
        if but:
            body += ["%f = " + convert.format("but0"), "%g = " + convert.format("but1"), "%defined0 = arith.cmpf oeq, %f, %g : f32",
                     "%fn = arith.cmpf uno, %f, %f : f32", "%gn = arith.cmpf uno, %g, %g : f32", "%defined1 = arith.andi %fn, %gn : i1",
                     "%defined = arith.ori %defined0, %defined1 : i1", "%k = arith.select %defined, %c, %no : i1", "%i = arith.extui %k : i1 to i64"]
        else:
            body.append("%i = arith.extui %c : i1 to i64")
        body.append("%r = arith.addi %i, %acc : i64")
        inputs = [a, b, *but]
        maps = ", ".join([f"affine_map<({dims}) -> ({dims})>"] * len(inputs))
        names = "".join(f"%{name}: {element}, " for name in ("a", "b", "but0", "but1")[:len(inputs)])
        total = self.new(f"linalg.generic {{indexing_maps = [{maps}, affine_map<({dims}) -> ()>], iterator_types = [{iterators}]}} "
                         f"ins({', '.join(inputs)} : {', '.join([kind] * len(inputs))}) outs({init} : tensor<i64>) {{\n^bb0({names}%acc: i64):\n" + "\n".join(body)
                         + "\nlinalg.yield %r : i64 } -> tensor<i64>")
        number = self.new(f"tensor.extract {total}[] : tensor<i64>")
        self.lines.append(f"vector.print {number} : i64")

    def widen(self, value, kind, wider):
        to = widened(kind, wider)
        return value if to == kind else self.new(f"arith.extf {value} : {kind} to {to}")

    def square_distance(self, a, b, kind):
        """Prints the sum of (a - b)^2 of two tensors."""
        element = re.fullmatch(r".*(f32|f64)>", kind)[1]
        difference = self.new(f"arith.subf {a}, {b} : {kind}")
        dims = ", ".join(f"d{i}" for i in range(kind.count("x")))
        iterators = ", ".join(['"reduction"'] * kind.count("x"))
        zero = self.new(f"arith.constant dense<0.0> : tensor<{element}>")
        total = self.new(f"linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ()>], iterator_types = [{iterators}]}} "
                         f"ins({difference} : {kind}) outs({zero} : tensor<{element}>) {{\n^bb0(%a: {element}, %acc: {element}):\n"
                         f"%s = arith.mulf %a, %a : {element}\n%r = arith.addf %acc, %s : {element}\nlinalg.yield %r : {element} }} -> tensor<{element}>")
        number = self.new(f"tensor.extract {total}[] : tensor<{element}>")
        self.lines.append(f"vector.print {number} : {element}")


def wider_types(text):
    return NARROW if re.search(r"(?<![a-zA-Z])b?f16\b", text) else SINGLE


def widened(text, wider):
    """A program or type with wider types in place of those."""
    def number(match):
        start, bits, between, kind = match.groups()
        if kind not in wider:
            return match[0]
        raw = bytes.fromhex(bits + "0000" * (kind == "bf16"))
        (value,) = struct.unpack(">e" if kind == "f16" else ">f", raw)
        return f"{start}0x{struct.pack('>f' if wider[kind] == 'f32' else '>d', value).hex().upper()}{between}{kind}"

    text = re.sub(r"(\b|<)0x([0-9A-F]+)( : |> : tensor<[0-9x]*)(bf16|f16|f32)\b", number, text)
    text = re.sub(r"(?<![a-wyzA-Z0-9_])(?:" + "|".join(wider) + r")\b", lambda match: wider[match[0]], text)
    # What is left of a conversion.
    return re.sub(r"arith\.(?:extf|truncf) (%[\w#]+)[^:\n]*: (\S+) to \2(?=\s|$)", r"arith.bitcast \1 : \2 to \2", text)


def versions(path):
    """A file as it is and raised and decomposed, its @main named after it."""
    name = os.path.splitext(os.path.basename(path))[0]
    before = ["--linalg-generalize-named-ops", "--canonicalize", "--cse", "--mlir-print-local-scope"]
    original = run("norm-opt", path, *before).replace("@main(", f"@{name}(")
    roundings = "fewer" if options.fewer_roundings else "exact"
    raised = run("norm-opt", f"--rmsnorm-raise=roundings={roundings} row-wise={'all' if options.row_wise else 'norms'}", "--canonicalize", "--cse",
                 *(["--rmsnorm-outline"] if options.outline else []), "--mlir-print-local-scope", text=original)
    if options.drop:
        raised = re.sub(rf" {options.drop} = \S+", "", raised)
    inline = ["--inline"] if options.outline else []
    decompose = ["norm-opt", "--rmsnorm-wrap-memrefs", "--rmsnorm-decompose", *inline, "--mlir-print-local-scope"]
    if "rmsnorm." in original:
        original = run(*decompose, text=original)
    return original, raised if options.embed else run(*decompose, text=raised)


def lower(text):
    """To LLVM, and the libraries of upstream's and ours that it calls."""
    libraries, expand = ["c_runner_utils", "float16_utils"], "arith-expand"
    if "f8E" in text:
        # What LLVM has no type for. It does so with all floats, at a price.
        libraries.append("apfloat_wrappers")
        expand = "convert-arith-to-apfloat, arith-expand"
    upstream = [os.path.join(os.environ["LLVM_LIBDIR"], f"libmlir_{name}.so") for name in libraries]
    if not options.embed:
        return run("mlir-opt", f"--pass-pipeline={PIPELINE.replace('arith-expand', expand)}", text=text), upstream
    target, host = options.embed.split(",")
    values = {"host": host, "options": f"target={target} {options.options}",
              "wait": "func.func(gpu-async-region)," if host == "gpu" else ""}
    passes = ",".join([TENSORS, EMBED % values, LLVM.replace("arith-expand", expand) % values])
    # Memory of the device's; the simulator checks its bounds.
    os.environ.setdefault("RMSNORM_GPU_BACKEND", "sim")
    return run("norm-opt", f"--pass-pipeline=builtin.module({passes})", text=text), [
        os.path.join(os.environ["LIBDIR"], f"librmsnorm_{name}.so") for name in ("runtime", "mgpu")] + upstream


def renamed(text, suffix):
    """The functions of `text` with other names."""
    for name in re.findall(r"^ *func\.func (?:private |public )?@(\w+)", text, re.M):
        text = re.sub(rf"@{name}\b", f"@{name}{suffix}", text)
    return text


def leaves_undefined(text):
    """Whether parts of results may come from tensor.empty: something is put into one, or it is viewed."""
    empty = set(re.findall(r"(%\w+) = tensor\.empty\(", text))
    used = re.findall(r" into (%\w+)\[|tensor\.(?:extract_slice|expand_shape|collapse_shape|cast|pad) (%\w+)", text)
    return any(name in empty for names in used for name in names)


def filled(text, value):
    """The same program with `value` in what tensor.empty gives."""
    def fill(match):
        name, sizes, kind, element = match.groups()
        number, empty, filling = f"{value}.0" if "f" in element else value, f"%empty_{name[1:]}", f"%value_{name[1:]}"
        return (f"{empty} = tensor.empty({sizes}) : {kind}\n{filling} = arith.constant {number} : {element}\n"
                f"{name} = linalg.fill ins({filling} : {element}) outs({empty} : {kind}) -> {kind}")

    return re.sub(r"(%\w+) = tensor\.empty\((.*?)\) : (tensor<(?:[0-9?]+x)*(b?f\w+|i\d+)>)$", fill, text, flags=re.M)


def is_sum(text, name, number):
    """Whether a reduction makes the result of that number."""
    body = re.search(rf"^ *func\.func .*@{name}\(.*?\n(.*?)^ *(?:func\.)?return (.*?) :", text, re.M | re.S)
    value = body and re.escape(body[2].split(", ")[number].split("#")[0])
    return bool(body and re.search(rf"^ *{value}(?::\d+)? = linalg\.generic .*reduction", body[1], re.M))


def compare(program, original, raised):
    """Adds the functions of both versions to `program`, and what compares their results."""
    wider = wider_types(original)
    found, original = functions(original)
    _, raised = functions(raised)
    has_undefined = not options.fewer_roundings and leaves_undefined(original)
    if has_undefined:
        program.functions.append(filled(renamed(original, "_other"), 1))
        original = filled(original, 0)
    program.functions += [original, renamed(raised, "_raised")]
    if options.fewer_roundings:
        program.functions.append(widened(renamed(original, "_wider"), wider))
    reports = []
    for name, (arguments, results) in found.items():
        values = [program.argument(kind, i) for i, kind in enumerate(arguments)]
        kinds = [f"tensor<{sizes}{element}>" for sizes, element in results]

        def call(callee, values, arguments, kinds):
            program.count += 1
            program.lines.append(f"%c{program.count}:{len(kinds)} = func.call @{callee}({', '.join(values)}) : ({', '.join(arguments)}) -> ({', '.join(kinds)})")
            return [f"%c{program.count}#{i}" for i in range(len(kinds))]

        before, after = (call(callee, values, arguments, kinds) for callee in (name, f"{name}_raised"))
        if options.fewer_roundings:
            widen = lambda types: [widened(one, wider) for one in types]
            wide = call(f"{name}_wider", [program.widen(v, one, wider) for v, one in zip(values, arguments)], widen(arguments), widen(kinds))
        other = call(f"{name}_other", values, arguments, kinds) if has_undefined else []
        for i, (sizes, element) in enumerate(results):
            reports.append((name, i, element))
            if options.fewer_roundings:
                kind = widened(kinds[i], wider)
                zero = program.new(f"arith.subf {wide[i]}, {wide[i]} : {kind}")
                for other in (program.widen(before[i], kinds[i], wider), program.widen(after[i], kinds[i], wider), zero):
                    program.square_distance(other, wide[i], kind)
                continue
            program.count_elements(before[i], sizes, element)
            but = (before[i], other[i]) if has_undefined else ()
            step = STEP[element]
            if options.rounded_sums and element == "f32" and is_sum(original, name, i):
                step = max(OF_SUMS.get(one, STEP[one]) for one in re.findall(r"bf16|f16|f32", " ".join(arguments + kinds)))
            for tolerance in (0.0, step):
                program.count_differences(before[i], after[i], sizes, element, tolerance, but)
    return reports


def count_wrong(reports, counts):
    wrong = 0
    for (name, i, element), elements, different, far in zip(reports, counts[::3], counts[1::3], counts[2::3]):
        bad = far or (element != "f32" and different > max(1, options.share * elements))
        wrong += bool(bad)
        if bad or different:
            print(f"{name} result {i}: {int(different)} of {int(elements)} {element} differ, {int(far)} by more than a step{', WRONG' if bad else ''}")
    print(f"{len(reports)} results, {wrong} wrong")
    return wrong


def count_further(reports, sums):
    nearer = further = 0
    for (name, i, *_), before, after, size in zip(reports, sums[::3], sums[1::3], sums[2::3]):
        before, after = ((part / size) ** 0.5 for part in (before, after))
        # But for the association of f32. A NaN is further.
        bad = not after <= before + STEP["f32"]
        nearer += after < before - STEP["f32"]
        further += bad
        if after != before:
            print(f"{name} result {i}: {before:.6g} from the wider program before, {after:.6g} raised{', FURTHER' if bad else ''}")
    print(f"{len(reports)} results, {nearer} nearer to the wider program, {further} further")
    return further


def main():
    program, reports = Program(), []
    for path in options.inputs:
        reports += compare(program, *versions(path))
    text = "\n".join(program.functions + ["func.func @run_and_compare() {"] + program.lines + ["return }"])
    lowered, libraries = lower(text)
    printed = run("mlir-runner", "-e", "run_and_compare", "--entry-point-result=void", "-O0",
                  f"--shared-libs={','.join(libraries)}", text=lowered)
    count = count_further if options.fewer_roundings else count_wrong
    sys.exit(1 if count(reports, [float(line) for line in printed.split()]) else 0)


main()
