# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op of arith and math on f16, bf16, f32, i8 and i32: kernels of all targets and the oracle take it, or all
refuse it by one message that names it, as ElementOps.def says. What is taken computes what the oracle does, of zeros,
infinities, NaNs, numbers that are not normal, ties, largest numbers and others, before a norm and after it. Functions of
f32 are also as near to those of Python as docs/semantics.md says, whatever the oracle says.

The ops are those of the .td files of the MLIR that this is built with: one that is new there is in neither list.

    ops.py FOLDER SOURCE_FOLDER LIBRARY LLVM_FOLDER [--table] [--only=REGEX] [--many] [--seed=TEXT] [--cuda=CHIP]

--table prints what is taken, of how many elements the oracle decides, and how many are poison (u). --many: of more
numbers, nearly all pairs of the special ones among them. --cuda: kernels run on the device, of that chip, through
PyTorch's memory, instead of the simulator.
"""
import argparse
import array
import math
import os
import random
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("source")
parser.add_argument("library")
parser.add_argument("llvm")
parser.add_argument("--table", action="store_true")
parser.add_argument("--only", default="")
parser.add_argument("--many", action="store_true")
parser.add_argument("--seed", default="")
parser.add_argument("--cuda")
options = parser.parse_args()
sys.path.insert(0, os.path.join(options.source, "benchmarks"))
import capi

FLOATS, INTEGERS = ("f16", "bf16", "f32"), ("i8", "i32")
TYPES = FLOATS + INTEGERS
DTYPES = {"f16": capi.F16, "bf16": capi.BF16, "f32": capi.F32, "i8": (0, 8), "i16": (0, 16), "i32": (0, 32)}
COLUMNS = 16


# ---- What there is -------------------------------------------------------------------------------------------------

def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


def read_ops():
    """The ops of MLIR: their C++ names by their names, and the class of each."""
    ops = {}
    for dialect, cpp in (("arith", "Arith"), ("math", "Math")):
        text = read(options.llvm, "include", "mlir", "Dialect", cpp, "IR", cpp + "Ops.td")
        for name, base, mnemonic in re.findall(r"^def (?:%s_)?(\w+Op)\s*:\s*(\w+)<(?:%s_Dialect,)?\s*\"(\w+)\"" % (cpp, cpp), text, re.M):
            ops[f"{dialect}.{mnemonic}"] = (f"{dialect}::{name}", base)
        defined = len(re.findall(r"^def (?:%s_)?\w+Op\b" % cpp, text, re.M))
        found = sum(op.startswith(dialect) for op in ops)
        assert found == defined, f"expected {defined} ops in {cpp}Ops.td, found {found}"
    return ops


def read_lists(ops):
    text = read(options.source, "include", "RMSNorm", "IR", "ElementOps.def")
    taken = dict(re.findall(r"^RMSNORM_ELEMENT_OP\((\S+), (\w+)\)", text, re.M))
    refused = dict(re.findall(r"^RMSNORM_NO_ELEMENT_OP\(\"(\S+)\", \"(.*)\"\)", text, re.M))
    names = {cpp: op for op, (cpp, _) in ops.items()}
    unknown = set(taken) - set(names) | set(refused) - set(ops)
    assert not unknown, f"expected ops of this MLIR in ElementOps.def, got {unknown}"
    listed = {names[cpp]: types for cpp, types in taken.items()}
    missing = set(ops) - set(listed) - set(refused)
    assert not missing, f"expected all ops of arith and math in ElementOps.def, it lacks {missing}"
    return listed, refused


# ---- How an op is written ------------------------------------------------------------------------------------------

def is_float(type):
    return "f" in type


def sized(bits):
    return {8: "i8", 16: "i16", 32: "i32"}[bits]


def width(type):
    return int(re.sub(r"\D", "", type))


def cast(source, target):
    """The op from one of our types to another; none if it is another op's."""
    if is_float(source) != is_float(target):
        return None
    larger = width(target) > width(source)
    if is_float(source):
        return "arith.extf" if larger else "arith.truncf" if width(target) < width(source) else None
    return ("arith.extsi", "arith.extui") if larger else "arith.trunci" if width(target) < width(source) else None


def get_forms(op, base):
    """For an op the forms of it: (type, name, result type, text), with %a, %b and %c of the type and %r the result.
    %n and %z are free."""
    forms = []
    add = lambda type, name, result, text: forms.append((type, name, result, text))
    for type in TYPES:
        f = is_float(type)
        unary, binary = f"%r = {op} %a : {type}", f"%r = {op} %a, %b : {type}"
        if op == "arith.constant":
            add(type, op, type, f"%r = arith.constant {'1.5' if f else '3'} : {type}")
        elif op in ("arith.cmpf", "arith.cmpi"):
            predicates = (("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno") if op == "arith.cmpf"
                          else ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"))
            if f == (op == "arith.cmpf"):
                for predicate in predicates:
                    add(type, f"{op} {predicate}", "i1", f"%r = {op} {predicate}, %a, %b : {type}")
        elif op == "arith.select":
            compare = "arith.cmpf olt" if f else "arith.cmpi slt"
            add(type, op, type, f"%n = {compare}, %a, %b : {type}\n    %r = arith.select %n, %b, %c : {type}")
        elif op == "arith.bitcast":
            if type != "i8":
                other = {"f16": "i16", "bf16": "i16", "f32": "i32", "i32": "f32"}[type]
                add(type, f"{op} to {other}", other, f"%r = {op} %a : {type} to {other}")
            if type == "f16":
                add(type, f"{op} to bf16", "bf16", f"%r = {op} %a : f16 to bf16")
        elif op in ("arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci"):
            for target in TYPES:
                if op in (cast(type, target) or ()) or cast(type, target) == op:
                    add(type, f"{op} to {target}", target, f"%r = {op} %a : {type} to {target}")
                    if op == "arith.truncf":
                        for mode in ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"):
                            add(type, f"{op} {mode} to {target}", target, f"%r = {op} %a {mode} : {type} to {target}")
        elif op in ("arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui"):
            if f == ("fpto" in op):
                for target in INTEGERS if f else FLOATS:
                    add(type, f"{op} to {target}", target, f"%r = {op} %a : {type} to {target}")
        elif op in ("arith.index_cast", "arith.index_castui"):
            if not f:
                add(type, op, type, f"%n = {op} %a : {type} to index\n    %r = {op} %n : index to {type}")
        elif op == "arith.scaling_extf":
            if f:
                add(type, op, type, f"%n = arith.truncf %a : {type} to f8E4M3FN\n    %z = arith.constant 4.0 : f8E8M0FNU\n"
                                    f"    %r = {op} %n, %z : f8E4M3FN, f8E8M0FNU to {type}")
        elif op == "arith.scaling_truncf":
            if f:
                add(type, op, type, f"%n = arith.constant 4.0 : f8E8M0FNU\n    %z = {op} %a, %n : {type}, f8E8M0FNU to f8E4M3FN\n"
                                    f"    %r = arith.extf %z : f8E4M3FN to {type}")
        elif op == "math.fpowi":
            if f:
                for exponent in INTEGERS:
                    add(type, f"{op} by {exponent}", type, f"%n = arith.bitcast %a : {type} to i{width(type)}\n"
                        + (f"    %z = arith.trunci %n : i{width(type)} to {exponent}\n" if width(type) > width(exponent)
                           else f"    %z = arith.extsi %n : i{width(type)} to {exponent}\n" if width(type) < width(exponent)
                           else f"    %z = arith.xori %n, %n : {exponent}\n")
                        + f"    %r = {op} %b, %z : {type}, {exponent}")
                for power in (-64, -3, -2, -1, 0, 1, 2, 3, 7, 64, 65):
                    add(type, f"{op} by {power}", type, f"%n = arith.constant {power} : i32\n    %r = {op} %a, %n : {type}, i32")
        elif op == "math.powf":
            if f:
                add(type, op, type, binary)
                for power in ("-2.0", "-1.0", "-0.5", "0.0", "0.5", "1.0", "2.0", "3.0"):
                    add(type, f"{op} by {power}", type, f"%n = arith.constant {power} : {type}\n    %r = {op} %a, %n : {type}")
        elif op == "math.clampf":
            if f:
                add(type, op, type, f"%r = {op} %a to [%b, %c] : {type}")
                add(type, f"{op} to numbers", type, f"%n = arith.constant -1.0 : {type}\n    %z = arith.constant 1.5 : {type}\n"
                                                   f"    %r = {op} %a to [%n, %z] : {type}")
        elif op == "math.sincos":
            if f:
                add(type, op, type, f"%n, %z = {op} %a : {type}\n    %r = arith.addf %n, %z : {type}")
        elif op == "arith.addui_extended":
            if not f:
                add(type, op, type, f"%n, %z = {op} %a, %b : {type}, i1\n    %r = arith.select %z, %n, %a : {type}")
        elif op in ("arith.mulsi_extended", "arith.mului_extended"):
            if not f:
                add(type, op, type, f"%n, %z = {op} %a, %b : {type}\n    %r = arith.xori %n, %z : {type}")
        elif base == "Math_FloatClassificationOp":
            if f:
                add(type, op, "i1", unary)
        elif base in ("Math_FloatUnaryOp", "Arith_FloatUnaryOp"):
            if f:
                add(type, op, type, unary)
        elif base in ("Math_FloatBinaryOp", "Arith_FloatBinaryOp"):
            if f:
                add(type, op, type, binary)
        elif base == "Math_FloatTernaryOp":
            if f:
                add(type, op, type, f"%r = {op} %a, %b, %c : {type}")
        elif base == "Math_IntegerUnaryOp":
            if not f:
                add(type, op, type, unary)
        elif base in ("Math_IntegerBinaryOp", "Arith_IntBinaryOpWithOverflowFlags", "Arith_IntBinaryOpWithExactFlag",
                      "Arith_IntBinaryOp", "Arith_TotalIntBinaryOp"):
            if not f:
                add(type, op, type, binary)
                if "arith.sh" in op:
                    add(type, f"{op} within", type, f"%n = arith.constant {width(type) - 1} : {type}\n    %z = arith.andi %b, %n : {type}\n"
                                                   f"    %r = {op} %a, %z : {type}")
                if "div" in op or "rem" in op:
                    add(type, f"{op} by 7", type, f"%n = arith.constant 7 : {type}\n    %r = {op} %a, %n : {type}")
                    add(type, f"{op} by -1", type, f"%n = arith.constant -1 : {type}\n    %r = {op} %a, %n : {type}")
        else:
            raise AssertionError(f"expected a form of '{op}', of class {base}: it is new")
    assert forms, f"expected a form of '{op}'"
    return forms


class Form:
    def __init__(self, op, type, name, result, text, listed):
        self.op, self.type, self.name, self.result, self.text = op, type, name, result, text
        mode = re.search(r"truncf (\w+) to", name)
        self.taken = op in listed and (not mode or mode[1] == "to_nearest_even")
        self.wrong = self.decided = self.elements = self.poison = 0

    def body(self, number, operands):
        """The text with names of its own."""
        names = dict(zip("abc", operands), r=f"%r{number}", n=f"%n{number}", z=f"%z{number}")
        return re.sub(r"%([abcrnz])\b", lambda m: names[m[1]], self.text)


# ---- Programs --------------------------------------------------------------------------------------------------------

def stored(result):
    return "i8" if result == "i1" else result


def write_entry(name, type, forms, first):
    """Forms of one type in a kernel with a norm: their operands depend on the norm's result, or its input on theirs."""
    t, x = f"tensor<?x{COLUMNS}x{type}>", f"tensor<?x{COLUMNS}xf32>"
    outs = [f"tensor<?x{COLUMNS}x{stored(form.result)}>" for form in forms]
    types = sorted(set(outs + [x]))
    lines = [f"func.func @{name}(%x: {x}, %ta: {t}, %tb: {t}, %tc: {t}) -> ({', '.join([x] + outs)}) {{",
             "  %c0 = arith.constant 0 : index", f"  %m = tensor.dim %x, %c0 : {x}"]
    lines += [f"  %e{i} = tensor.empty(%m) : {e}" for i, e in enumerate(types)]
    empty = {e: f"%e{i}" for i, e in enumerate(types)}
    norm = lambda value: f"  %y = rmsnorm.forward input({value} : {x}) output({empty[x]} : {x}) eps = 1.0e-5 -> {x}"
    body, results = [], []
    if not first:
        lines.append(norm("%x"))
        # Of no other row than that of the norm.
        zero = f"arith.constant {'0.0' if is_float(type) else '0'} : {type}"
        body += ["%lim = arith.constant -1.0e+30 : f32", f"%zero = {zero}", "%p = arith.cmpf oge, %yy, %lim : f32"]
        body += [f"%{o} = arith.select %p, %in_{o}, %zero : {type}" for o in "abc"]
        operands = ["%a", "%b", "%c"]
    else:
        operands = ["%in_a", "%in_b", "%in_c"]
    total = "%yy"
    for i, form in enumerate(forms):
        body += form.body(i, operands).split("\n")
        result = f"%r{i}"
        if form.result == "i1":
            body.append(f"%x{i} = arith.extui {result} : i1 to i8")
            result = f"%x{i}"
        results.append(result)
        if first:
            # Something of it, whatever it is.
            kind = stored(form.result)
            if is_float(kind):
                body += [f"%q{i} = arith.constant 0.5 : {kind}", f"%p{i} = arith.cmpf olt, {result}, %q{i} : {kind}"]
            else:
                body += [f"%q{i} = arith.constant 1 : {kind}", f"%p{i} = arith.cmpi slt, {result}, %q{i} : {kind}"]
            body += [f"%u{i} = arith.constant 0.25 : f32", f"%v{i} = arith.constant 0.0 : f32",
                     f"%w{i} = arith.select %p{i}, %u{i}, %v{i} : f32", f"%t{i} = arith.addf {total}, %w{i} : f32"]
            total = f"%t{i}"
    all_outs = ([x] if first else []) + outs
    maps = ", ".join(["#m"] * (4 + len(all_outs)))
    values = ([total] if first else []) + results
    arguments = ["%yy: f32"] + [f"%in_{o}: {type}" for o in "abc"] + [
        f"%o{i}: {re.sub('.*x|>', '', o)}" for i, o in enumerate(all_outs)]
    lines += [f"  %g:{len(all_outs)} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"parallel\"]}}"
              f" ins({'%x' if first else '%y'}, %ta, %tb, %tc : {x}, {t}, {t}, {t}) outs({', '.join(empty[o] for o in all_outs)} : {', '.join(all_outs)}) {{",
              f"  ^bb0({', '.join(arguments)}):", *("    " + line.strip() for line in body),
              f"    linalg.yield {', '.join(values)} : {', '.join(re.sub('.*x|>', '', o) for o in all_outs)}",
              f"  }} -> ({', '.join(all_outs)})"]
    if first:
        lines.append(norm("%g#0"))
    gs = [f"%g#{i + first}" if len(all_outs) > 1 else "%g" for i in range(len(outs))]
    lines += [f"  return {', '.join(['%y'] + gs)} : {', '.join([x] + outs)}", "}"]
    return "\n".join(lines) + "\n"


HEADER = "#m = affine_map<(d0, d1) -> (d0, d1)>\n"


def run(*command, input=None):
    return subprocess.run(command, input=input, capture_output=True, text=True)


# ---- Numbers ---------------------------------------------------------------------------------------------------------

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23)}


def decode(type, bits):
    """The numbers of an array of bits, or of integers."""
    if not is_float(type):
        return bits
    if type == "f16":
        return struct.unpack(f"<{len(bits)}e", struct.pack(f"<{len(bits)}H", *bits))
    words = [b << 16 for b in bits] if type == "bf16" else bits
    return struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *words))


def special_floats(type):
    """Bits."""
    exponents, mantissa = FORMATS[type]
    bias, top = (1 << exponents - 1) - 1, (1 << exponents) - 1
    def near(value):
        exact = struct.unpack("<I", struct.pack("<f", value))[0]
        return (exact >> 16 if type == "bf16" else struct.unpack("<H", struct.pack("<e", value))[0] if type == "f16" else exact)
    positive = [0, 1, (1 << mantissa) - 1, 1 << mantissa, top << mantissa, (top << mantissa) - 1, (top << mantissa) | 1 << mantissa - 1,
                ((bias << mantissa) + 1), ((bias << mantissa) - 1)]
    positive += [near(v) for v in (0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 7, 9.375, 50.25, 88.5, 126.5, 127.5, 128.5, 255.5, 1000.0, 4096.5, 60000.0)]
    if type != "f16":
        positive += [near(v) for v in (1e6, 16777216.0, 2147483648.0, 1e19, 1e-10, 1e-20, 1e30, 1e-30, 1e38)]
    sign = 1 << exponents + mantissa
    return positive + [p | sign for p in positive]


def special_integers(bits):
    top = 1 << bits - 1
    positive = [0, 1, 2, 3, 5, 7, 8, bits - 1, bits, bits + 1, 100, top // 3, top - 1]
    if bits == 32:
        positive += [65535, 65536, 16777215, 16777217, 1000003]
    return sorted(set(positive + [-p for p in positive] + [-top]))


def make_operands(type, rng):
    """Three arrays of bits: pairs of special numbers, each with a third one, then others."""
    if is_float(type):
        special = special_floats(type)
        exponents, mantissa = FORMATS[type]
        def other():
            # Of all magnitudes, or near 1.
            bias = (1 << exponents - 1) - 1
            exponent = rng.randrange(1 << exponents) if rng.random() < 0.4 else bias + rng.randrange(-6, 7)
            return rng.getrandbits(1) << exponents + mantissa | exponent << mantissa | rng.getrandbits(mantissa)
    else:
        special = special_integers(width(type))
        other = lambda: rng.randrange(-1 << width(type) - 1, 1 << width(type) - 1) >> rng.randrange(width(type))
    count = 8192 if options.many else 640
    pairs = [(p, q) for p in special for q in special]
    rng.shuffle(pairs)
    # Each of them first at least once, and with 1.
    one = special[decode(type, special).index(1)]
    pairs = [pair for p in special for pair in ((p, p), (p, one), (p, rng.choice(special)))] + pairs
    pairs = pairs[:count * 3 // 4]
    pairs += [(other(), other()) for _ in range(count - len(pairs))]
    third = [rng.choice(special) if rng.random() < 0.5 else other() for _ in pairs]
    return [[p for p, _ in pairs], [q for _, q in pairs], third]


def to_array(type, values):
    return array.array({"i8": "b", "i16": "h", "i32": "i", "f16": "H", "bf16": "H", "f32": "I"}[type], values)


# ---- The comparison --------------------------------------------------------------------------------------------------

EXACT = {"arith.divf": lambda x, y: x / y, "math.rsqrt": lambda x: 1 / math.sqrt(x), "math.powf": math.pow,
         "math.exp2": lambda x: math.pow(2, x)}


def read_accuracy():
    """The bounds of functions in f32: ulp, ulp for each unit of the operand, and beside that."""
    bounds = {}
    for row in re.findall(r"^\| `(?:arith|math)\..*$", read(options.source, "docs", "semantics.md"), re.M):
        names, ulps, more, beside = (cell.strip() for cell in row.strip("|").split("|"))
        power = re.match(r"2<sup>(-\d+)</sup>", beside)
        for name in re.findall(r"`(\S+?)`", names):
            bounds[name] = float(ulps or 0), float(more or 0), 2.0 ** int(power[1]) if power else 0.0
    assert len(bounds) > 20, f"expected the accuracy of functions in docs/semantics.md, found {bounds}"
    return bounds


def compare_exact(form, got, inputs, bounds):
    """With functions in double precision, where those have a normal number of normal numbers."""
    if form.type != "f32" or form.name not in bounds:
        return
    ulps, more, beside = bounds[form.name]
    function = EXACT.get(form.op) or getattr(math, form.op.split(".")[1])
    count = 2 if form.op in ("arith.divf", "math.powf", "math.atan2") else 1
    smallest, largest = 2.0 ** -126, 2.0 ** {"math.sin": 20, "math.cos": 20, "arith.divf": 126}.get(form.op, 128)
    checked = 0
    for i, value in enumerate(got):
        operands = [v[i] for v in inputs[:count]]
        if not all(smallest <= abs(v) < largest for v in operands):
            continue
        try:
            exact = function(*operands)
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
        if isinstance(exact, complex) or not smallest <= abs(exact) < 3.4028234663852886e+38:
            continue
        checked += 1
        ulp = 2.0 ** (math.frexp(exact)[1] - 24)
        error = abs(value - exact)
        allowed = (ulps + more * abs(operands[0])) * ulp + beside
        if not error <= allowed and not abs(exact) + allowed > 3.4028235e+38:
            form.wrong += 1
            if form.wrong == 1:
                print(f"wrong: {form.name} of {form.type} {operands}: got {value!r}, expected {exact!r} within {allowed / ulp:.3g} ulp")
    assert checked > 20, f"{form.name}: expected some numbers with a result, found {checked}"


def compare(form, got, ends, inputs):
    """Counts, and says what is wrong first."""
    kind = stored(form.result)
    form.elements += len(got)
    for i, value in enumerate(decode(kind, got)):
        lo, hi = ends[2 * i:2 * i + 2]
        form.poison += lo > hi
        form.decided += lo == hi or lo != lo or (kind == "f32" and hi - lo <= 2**-11 * max(abs(lo), abs(hi)))
        anything = lo == -math.inf and hi == math.inf
        right = lo > hi or anything or (lo <= value <= hi if value == value else lo != lo and hi != hi)
        if not right:
            form.wrong += 1
            if form.wrong == 1:
                operands = ", ".join(repr(v[i]) for v in inputs)
                print(f"wrong: {form.name} of {form.type} ({operands}): got {value!r}, expected {lo!r} to {hi!r}")


def check_numbers(module, entries):
    """Runs the entries on the simulator and in the oracle, and compares."""
    kernels, oracle = (capi.Runtime(options.library, module, backend)
                       for backend in (capi.CUDA if options.cuda else capi.SIM, capi.ORACLE))
    operands = {type: make_operands(type, random.Random(type + options.seed)) for type in TYPES}
    bounds = read_accuracy()
    for entry, type, forms in entries:
        inputs = operands[type]
        numbers = [decode(type, values) for values in inputs]
        rows = len(inputs[0]) // COLUMNS
        rng = random.Random(entry)
        x = array.array("f", [rng.gauss(0, 1) for _ in range(rows * COLUMNS)])
        kinds = ["f32"] + [stored(form.result) for form in forms]
        got = [x] + [to_array(type, v) for v in inputs] + [to_array(k, [0] * len(x)) for k in kinds]
        ends = [array.array("d", [v for one in values for v in (one, one)]) for values in
                [x] + numbers + [[0.0] * len(x)] * len(kinds)]
        types = [capi.F32] + [DTYPES[type]] * 3 + [DTYPES[k] for k in kinds]
        for runtime, arrays, dtypes in ((kernels, got, types), (oracle, ends, [capi.INTERVAL] * len(types))):
            addresses = [a.buffer_info()[0] for a in arrays]
            if options.cuda and runtime is kernels:
                import torch
                copies = [torch.frombuffer(a, dtype=torch.uint8).cuda() for a in arrays]
                addresses = [copy.data_ptr() for copy in copies]
            runtime.prepare(entry).bind([capi.Tensor(a, (rows, COLUMNS), dtype, runtime.place)
                                         for a, dtype in zip(addresses, dtypes)])()
            if options.cuda and runtime is kernels:
                torch.cuda.synchronize()
                for a, copy in zip(arrays, copies):
                    a[:] = array.array(a.typecode, copy.cpu().numpy().tobytes())
        norm = Form("", "f32", f"the norm of {entry}", "f32", "", {"": ""})
        # The bits of floats, as of all others.
        compare(norm, array.array("I", got[4].tobytes()), ends[4], numbers)
        assert norm.wrong == 0, f"@{entry}: the norm is wrong"
        for form, values, interval in zip(forms, got[5:], ends[5:]):
            compare(form, values, interval, numbers)
            compare_exact(form, decode(stored(form.result), values), numbers, bounds)


# ---- All of it -------------------------------------------------------------------------------------------------------

def split(forms, size):
    return [forms[i:i + size] for i in range(0, len(forms), size)]


def compile_all(forms):
    """Modules of what is taken, for all targets; one where the ops come before the norm, one where they come after."""
    for first in (False, True):
        entries, text = [], HEADER
        for type in TYPES:
            for number, part in enumerate(split([f for f in forms if f.taken and f.type == type], 12)):
                name = f"{'before' if first else 'after'}_{type}_{number}"
                entries.append((name, type, part))
                text += write_entry(name, type, part, first)
        path = os.path.join(options.folder, "before" if first else "after")
        with open(path + ".mlir", "w") as file:
            file.write(text)
        simulated = options.cuda or ("sim:gfx942" if first else "sim:sm_90")
        commands = [[f"--target={simulated},oracle", "--rows=64", "-o", path + ".rmsn"]]
        if not first:
            # Machine code of one variant of each.
            commands += [["--target=sm_90", "--emit=ptx", "-o", path + ".ptx"], ["--target=gfx942", "--emit=asm", "-o", path + ".s"]]
        for command in commands:
            result = run("norm-compile", path + ".mlir", *command)
            assert result.returncode == 0, f"{command[0]}: {result.stderr[:2000]}"
        check_numbers(path + ".rmsn", entries)
        # Embedded: nothing is left outside.
        result = run("norm-opt", path + ".mlir", "--rmsnorm-embed-tensors=remarks=true", "-o", os.devnull)
        assert result.returncode == 0 and "not tiled" not in result.stderr, result.stderr[:2000]


def check_refusals(forms, refused):
    """One message with each op's name, in own modules, embedded, in device code of all targets and in the oracle."""
    forms = [form for form in forms if not form.taken]
    assert len(forms) > 10
    expected = []
    for form in forms:
        op = re.escape(f"'{form.op}' op ")
        expected.append(op + (re.escape(f"is computed by no kernel: expected {refused[form.op]}") if form.op in refused
                              else "expected rounding to nearest even, got '"))
    module = "\n// -----\n".join(HEADER + write_entry("f", form.type, [form], False) for form in forms)

    def check(what, parts, passes, kind):
        result = run("norm-opt", "-", "--split-input-file", *passes, "-o", os.devnull, input=parts)
        found = re.findall(rf"{kind}: (.*)", result.stderr)
        for form, wanted in zip(forms, expected):
            got = [line for line in found[:1] if re.search(wanted, line)]
            assert got, f"{what}: expected {kind} of {form.name} on {form.type}, got {found[:1]}"
            found = found[1:]
        assert not found, f"{what}: expected one {kind} of each op, got {found}"

    check("own", module, ["--rmsnorm-tensor-half"], "error")
    check("embedded", module, ["--rmsnorm-embed-tensors=remarks=true"], "remark")
    check("oracle", module, ["--rmsnorm-to-oracle"], "error")
    for backend, chip, target in (("nvvm", "sm_90", "sm_90"), ("rocdl", "gfx942", "gfx942"), ("sim", "sm_90", "sim:sm_90"),
                                  ("sim", "gfx942", "sim:gfx942")):
        kernels = [f"gpu.module @m [#rmsnorm.target<{backend} \"{chip}\">] {{\n  gpu.func @k(%a: {f.type}, %b: {f.type}, %c: {f.type}) kernel "
                   f"attributes {{known_block_size = array<i32: 32, 1, 1>}} {{\n    {f.text}\n    gpu.return\n  }}\n}}" for f in forms
                   if f.op != "arith.mului_extended"]
        device = [(form, e) for form, e in zip(forms, expected) if form.op != "arith.mului_extended"]
        check_device = "\n// -----\n".join(kernels)
        result = run("norm-opt", "-", "--split-input-file", f"--rmsnorm-attach-target=target={target}", f"--rmsnorm-finalize-{backend}",
                     "-o", os.devnull, input=check_device)
        found = re.findall(r"error: (.*)", result.stderr)
        assert len(found) == len(device), f"{target}: expected {len(device)} errors, got {len(found)}: {result.stderr[:1500]}"
        for (form, wanted), line in zip(device, found):
            assert re.search(wanted, line), f"{target}: expected an error of {form.name} on {form.type}, got {line}"


def main():
    os.makedirs(options.folder, exist_ok=True)
    ops = read_ops()
    listed, refused = read_lists(ops)
    forms = [Form(op, *form, listed) for op, (_, base) in ops.items() for form in get_forms(op, base)
             if re.search(options.only, op)]
    compile_all(forms)
    if not options.only:
        check_refusals(forms, refused)
    if options.table:
        print(f"{'op':34}" + "".join(f"{type:>16}" for type in TYPES))
        for name in dict.fromkeys(form.name for form in forms):
            cells = []
            for type in TYPES:
                form = next((f for f in forms if f.name == name and f.type == type), None)
                cells.append("-" if not form else "refused" if not form.taken else
                             f"taken {form.decided / form.elements:.0%}" + (f" {form.poison / form.elements:.0%}u" if form.poison else ""))
            print(f"{name:34}" + "".join(f"{cell:>16}" for cell in cells))
    for form in forms:
        if form.taken:
            # Or the comparison says nothing.
            assert form.decided > 0.1 * form.elements, f"{form.name} on {form.type}: {form.decided} of {form.elements} decided"
    wrong = [f"{form.name} on {form.type}: {form.wrong} of {form.elements}" for form in forms if form.wrong]
    assert not wrong, "\n".join(["wrong elements:"] + wrong)
    taken = sum(form.taken for form in forms)
    print(f"{len(ops)} ops, {taken} forms taken, {len(forms) - taken} refused, {sum(form.elements for form in forms)} elements right")


main()
