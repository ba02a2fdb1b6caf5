# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What generate.py does for the forward, for the backward.

    generate_backward.py [MODULE]    prints the modules and their sizes, or one's IR
"""

import itertools
import sys

from generate import CLUSTER_PLACES, LAYOUTS, ORDERS, PLACES, WIDE, Function, Module, cover, is_chosen, main, runs

DIMENSIONS = {
    "chip": ["sm_90", "gfx942"],
    "n": [1, 2, 3, 7, 128, 760, 1004, 1128, 2880, 4097, 8192, WIDE + 5, "?"],
    # residual: a gradient is added to dx. forward: it writes the rstd that the
    # backward reads, in the same function.
    "kind": ["plain", "residual", "forward"],
    "x": ["bf16", "f16", "f32"],
    "dy": ["bf16", "f16", "f32"],
    "dx": ["bf16", "f16", "f32"],
    "weight": ["none", "bf16", "f16", "f32"],
    "dweight": ["none", "f32", "weight"],
    "casting": ["gemma", "llama", "none"],
    "offset": [0, 1],
    "rstd": ["given", "computed"],
    # Whether the weight is declared rmsnorm.constant.
    "constant": [False, True],
    "rows": [(), ("?",), (1, "?"), ("?", 2, "?"), (1, 1)],
    # Of dx: a result's, or dy's or x's buffer.
    "output": ["argument", "empty", "dy", "x"],
}
# The gradient of the weight is no sum where there is one row.
SEVERAL_ROWS = [rows for rows in DIMENSIONS["rows"] if rows not in ((), (1, 1))]
# What check.py records of a case.
RECORDED = ["kind", "x", "dy", "dx", "weight", "dweight", "casting", "offset", "rstd", "constant", "rows", "output"]
# Fields of the schedule that the backward has no use for: none.
WITHOUT = []


def possible(case):
    """Whether the values that are already chosen go together."""
    get = case.get
    output = get("output")
    if output in ("dy", "x") and get("dx", 1) != get(output, get("dx", 1)):
        return False
    if output == "x" and get("kind") == "forward":
        return False  # two destinations
    # The sizes of all entries of a module are given by one --dim=s1=N.
    if get("n") == "?" and get("rows") in ((), ("?", 2, "?"), (1, 1)):
        return False
    if get("weight") == "none" and (get("offset") or get("constant") or get("dweight", "none") != "none"):
        return False
    if get("kind") == "forward" and get("rstd") == "computed":
        return False
    return True


def emit(case, name):
    f = Function(case, name)
    x, dy, dx, kind = case["x"], case["dy"], case["dx"], case["kind"]
    # In this order norm-run takes the rstd that is given for that of x.
    f.argument("dy", f.type(dy))
    f.argument("x", f.type(x))
    weight = f.weight()
    rstd = None
    if kind == "forward":
        y, rstd = f.forward("%x", x, f.destination("y", x), x, weight, f.destination("rstd", "f32", 1))
        f.result(y, x)
        f.result(rstd, "f32", 1)
    elif case["rstd"] == "given":
        rstd = f.argument("rstd", f.type("f32", 1))

    output = f"%{case['output']}" if case["output"] in ("dy", "x") else f.destination("dx", dx)
    types = [f.type(dx)]
    text = f"rmsnorm.backward dy(%dy : {f.type(dy)}) input(%x : {f.type(x)}){weight}"
    if rstd:
        text += f" rstd({rstd} : {f.type('f32', 1)})"
    text += f" dx({output} : {types[0]})"
    if case["dweight"] != "none":
        element = "f32" if case["dweight"] == "f32" else case["weight"]
        types.append(f"tensor<{case['n']}x{element}>")
        destination = f.vector("dweight", types[1])
        text += f" dweight({destination} : {types[1]})"
    text += " eps = 1.0e-05"
    if case["offset"]:
        text += f" offset = {float(case['offset'])}"
    if case["casting"] != "gemma":
        text += f" casting = {case['casting']}"
    values = f.values(text, types)
    if kind == "residual":
        past = f.argument("dh", f.type(dx))
        pair = f"{types[0]}, {types[0]}"
        values[0] = f.value(f"linalg.add ins({values[0]}, {past} : {pair}) outs({output} : {types[0]}) -> {types[0]}")
    f.result(values[0], dx)
    for value, type in zip(values[1:], types[1:]):
        f.results.append((value, type))
    return f.text()


def describe(case):
    rows = "x".join(str(d) for d in (*case["rows"], case["n"]))
    return (f"backward {case['kind']} {rows} dy={case['dy']} x={case['x']} dx={case['dx']} weight={case['weight']} "
            f"dweight={case['dweight']} casting={case['casting']} offset={case['offset']} rstd={case['rstd']} "
            f"constant={int(case['constant'])} output={case['output']}")


def case(**values):
    base = {"chip": "sm_90", "n": 128, "kind": "plain", "x": "bf16", "dy": "bf16", "dx": "bf16", "weight": "bf16",
            "dweight": "f32", "casting": "gemma", "offset": 0, "rstd": "given", "constant": False, "rows": ("?",),
            "output": "argument"}
    assert set(values) <= set(base)
    return {**base, **values}


def corners():
    """Each subgroup size with each way to share out a row, as for the forward."""
    i = 0
    for chip in DIMENSIONS["chip"]:
        for n in (1, 3, 128, 760 if chip == "sm_90" else 1128, 2880, 8192):
            for rstd in DIMENSIONS["rstd"]:
                yield case(chip=chip, n=n, rstd=rstd, constant=i % 4 == 3, casting=DIMENSIONS["casting"][i % 3], offset=i // 2 % 2,
                           weight=DIMENSIONS["weight"][1 + i % 3], dweight=DIMENSIONS["dweight"][1 + i % 2],
                           x=DIMENSIONS["x"][i // 3 % 3], dy=DIMENSIONS["dy"][i // 2 % 3], dx=DIMENSIONS["dx"][i % 3],
                           output=DIMENSIONS["output"][i % 2], rows=DIMENSIONS["rows"][1 + i % 3])
                i += 1
    for rows, casting, dweight in itertools.product(((), (1, 1)), DIMENSIONS["casting"], ("f32", "weight")):
        yield case(chip=DIMENSIONS["chip"][i % 2], n=760, rows=rows, casting=casting, dweight=dweight,
                   rstd=DIMENSIONS["rstd"][i // 2 % 2])
        i += 1
    for chip, n in itertools.product(DIMENSIONS["chip"], (1, 3, 128, 1004, 2880, 8192)):
        yield case(chip=chip, n=n, dweight="none", rstd=DIMENSIONS["rstd"][i % 2], casting=DIMENSIONS["casting"][i % 3],
                   weight=DIMENSIONS["weight"][i % 4], kind=("plain", "residual")[i // 2 % 2])
        i += 1


def module(name, cases, chips, runs, schedule="", same_bits=None):
    return Module(name, cases, chips, runs, schedule, suite=sys.modules[__name__], same_bits=same_bits)


def width(case):
    n = case["n"]
    return "dynamic" if n == "?" else "narrow" if n < 1000 else "middle" if n < 5000 else "wide"


PLANS = {"narrow": runs([0, 1, 7, 157]), "middle": runs([0, 1, 7, 35]), "wide": runs([0, 1, 3]),
         "dynamic": runs([0, 1, 7]) + [
             {"rows": rows, "order": ORDERS[i % 3], "layout": list(LAYOUTS)[i % 4], "dim": n}
             for i, (n, rows) in enumerate([(1, 157), (2, 7), (3, 7), (7, 157), (128, 157), (760, 35), (1128, 7),
                                            (2880, 7), (4097, 7), (8192, 3), (WIDE + 5, 2)])]}


def pairwise_modules(long):
    groups = {}
    # Half of the dynamic corners as they are chosen, each for every class of N, half in strips.
    dynamic = list(dynamic_corners(long))
    chosen = dynamic[0::4] + dynamic[3::4]
    for c in cover(DIMENSIONS, [*corners(), *chosen], possible):
        groups.setdefault((c["chip"], width(c)), []).append(c)
    for (chip, name), cases in sorted(groups.items()):
        yield module(f"backward_{chip}_{name}", cases, [chip], PLANS[name])
    for chip in DIMENSIONS["chip"]:
        cases = [c for c in dynamic if c["chip"] == chip and c not in chosen]
        # In vectors, also of rows that do not fill them; in the short suite each N on one of the chips.
        plan = PLANS["dynamic"][0 if long else chip == "gfx942"::1 if long else 2]
        yield module(f"backward_strips_{chip}_dynamic", cases, [chip], plan, "vector_width=8,column_sums=strips")
        yield module(f"backward_dx_{chip}_dynamic", [case(chip=chip, n="?", dweight="none")], [chip], PLANS["dynamic"], "vector_width=8")


def dynamic_corners(long):
    """Rows of run-time size: each casting, each rstd, with and without a buffer that is overwritten."""
    for i, (chip, casting, rstd) in enumerate(itertools.product(DIMENSIONS["chip"], DIMENSIONS["casting"],
                                                                DIMENSIONS["rstd"])):
        if not long and (i + i // 2 + i // 6) % 2:
            continue  # every two of them have met
        yield case(chip=chip, n="?", casting=casting, rstd=rstd, offset=i % 2, dweight=DIMENSIONS["dweight"][1 + i % 2],
                   weight=DIMENSIONS["weight"][1 + i % 3], x=DIMENSIONS["x"][i % 3], dy=DIMENSIONS["dy"][i // 2 % 3],
                   dx=DIMENSIONS["dy"][i // 2 % 3], output=("argument", "dy", "empty")[i % 3],
                   rows=DIMENSIONS["rows"][1 + i % 2])


def strip_modules():
    """What the selector sums in registers, in strips: all corners with a sum,
    and dx in place, where the sums come first and the rows' values before them."""
    groups = {}
    for c in corners():
        if c["dweight"] != "none" and c["rows"] in SEVERAL_ROWS:
            groups.setdefault((c["chip"], width(c)), []).append(c)
    for chip in DIMENSIONS["chip"]:
        for i, (output, rstd, casting) in enumerate(itertools.product(("dy", "x"), DIMENSIONS["rstd"],
                                                                      DIMENSIONS["casting"])):
            groups[chip, "narrow"].append(case(chip=chip, n=(128, 760)[i % 2], output=output, rstd=rstd, casting=casting,
                                               kind=("plain", "residual")[i // 2 % 2]))
        groups[chip, "wide"].append(case(chip=chip, n=WIDE + 5, output="dy"))
    for (chip, name), cases in sorted(groups.items()):
        yield module(f"strips_{chip}_{name}", cases, [chip], PLANS[name], "column_sums=strips")


def strip_mode_modules(long):
    """Strips behind and in front of rows in each mode: what the sums read is read
    again by other blocks, and must not be overwritten by then. In place and not,
    each casting and rstd, rows kept in registers and read again; persistent
    blocks with many rows each."""
    kinds = list(itertools.product(("dy", "x", "argument"), DIMENSIONS["casting"], DIMENSIONS["rstd"]))

    def cases(chip, n, first):
        # Every other combination, and the rest with the next schedule; in the short suite fewer, and of run-time size,
        # where each is compiled for many classes of N, fewest.
        step = 2 if long else 4 if n == sizes else 8
        for i, (output, casting, rstd) in list(enumerate(kinds))[first % step::step]:
            kind = ("plain", "residual", "forward")[i % 3]
            if output == "x" or rstd == "computed":
                kind = ("plain", "residual")[i % 2]
            element = DIMENSIONS["x"][i // 2 % 3]
            other = DIMENSIONS["x"][(i // 2 + i % 2) % 3]
            yield case(chip=chip, n=n[i % len(n)], output=output, casting=casting, rstd=rstd, kind=kind, dx=element,
                       x=other if output == "dy" else element, dy=element if output == "dy" else other,
                       weight=DIMENSIONS["weight"][1 + i % 3], dweight=DIMENSIONS["dweight"][1 + i % 2], offset=i // 3 % 2)

    sizes = (376, 333, 1128)
    for i, (chip, n, schedule) in enumerate([
            ("sm_90", sizes, "cache=registers,blocks_per_sm=1,threads_per_row=64,row_groups=2,rows_per_group=1"),
            ("sm_90", sizes, "cache=reload,blocks_per_sm=2,threads_per_row=96,row_groups=1,rows_per_group=2,vectors_in_flight=1"),
            ("gfx942", sizes, "cache=registers,blocks_per_sm=2,threads_per_row=64,row_groups=2,rows_per_group=2"),
            ("gfx942", sizes, "cache=reload,blocks_per_sm=1,threads_per_row=32,row_groups=4,rows_per_group=3"),
            ("sm_90", sizes, "cluster=2,cache=reload,blocks_per_sm=2,threads_per_row=32"),
            ("sm_90", ("?",), "blocks_per_sm=2,threads_per_row=64,row_groups=2,rows_per_group=2"),
            ("gfx942", ("?",), "blocks_per_sm=1,threads_per_row=128,row_groups=1,rows_per_group=3"),
            ("sm_90", sizes, "multi_wave_cached,threads_per_row=64,row_groups=2,rows_per_group=2")]):
        plan = runs([0, 7, 35], *([333, 1, 5] if n == ("?",) else []))
        if n == ("?",):
            plan.append({"rows": 35, "order": "shuffled", "layout": "unaligned", "dim": 1128})
        yield module(f"strip_modes_{i}", list(cases(chip, n, i)), [chip], plan, "column_sums=strips," + schedule)


def cluster_modules():
    """Rows that the blocks of a cluster share, each adding up its columns: forced
    on narrow rows, chosen by the selector for wide ones."""
    kinds = list(itertools.product(DIMENSIONS["casting"], DIMENSIONS["rstd"]))
    for i, (chip, schedule) in enumerate([
            ("sm_90", "cluster=2,threads_per_row=64,cache=reload,blocks_per_sm=2,vector_width=8"),
            ("sim64", "cluster=2,threads_per_row=64,cache=registers,blocks_per_sm=1"),
            ("sm_90", "cluster=4,threads_per_row=96,cache=registers,blocks_per_sm=1,vector_width=8"),
            # Split phase from three stages on, but of reductions that depend on one another.
            ("sm_90", "cluster=8,threads_per_row=32,cache=shared,stages=3,blocks_per_sm=3,vector_width=8"),
            ("sm_90", "cluster=16,threads_per_row=32,cache=shared,stages=4,blocks_per_sm=6,vector_width=8")]):
        # 4096: equal parts. 4099: the last part is smaller. 520: some ranks have nothing.
        cases = [case(chip="sm_90", n=(4096, 4099, 520)[(i + k) % 3], casting=casting, rstd=rstd,
                      kind=("plain", "residual", "forward")[k % 3] if rstd == "given" else ("plain", "residual")[k // 2 % 2],
                      x=DIMENSIONS["x"][(i + k) % 3], dy=DIMENSIONS["x"][(i + k) % 3], dx=DIMENSIONS["x"][(i + k) % 3],
                      weight=DIMENSIONS["weight"][1 + k % 3], dweight=DIMENSIONS["dweight"][k % 3], offset=k // 2 % 2,
                      output=("dy", "argument", "empty")[k // 2 % 3], rows=[("?",), ("?", 2, "?"), (1, "?")][k % 3])
                 for k, (casting, rstd) in enumerate(kinds)]
        yield module(f"cluster_{i}", cases, [chip], runs([0, 1, 7, 35], orders=3), schedule)
    wide = [case(n=24580), case(n=65536, casting="llama", rstd="computed", output="dy"),
            case(n=131072 + 5, x="f16", dy="f16", dx="f16", weight="f32", dweight="weight"), case(n=262144, kind="residual")]
    yield module("cluster_selected", wide, ["sm_90"], runs([0, 2]))


def partial_modules():
    """Vectors of which a part exists, or that no row fills: the selector has none where N is known, a schedule may."""
    for name, schedule, dweight in (("none", "", "none"), ("registers", ",blocks_per_sm=1,rows_per_group=1", "f32"), ("strips", ",column_sums=strips", "weight")):
        cases = [case(n=n, x=t, dy=t, dx=t, weight=t, dweight=dweight, casting=DIMENSIONS["casting"][k % 3],
                      rstd=DIMENSIONS["rstd"][k % 2])
                 for k, (n, t) in enumerate(itertools.product((1004, 1001, 5), ("bf16", "f16")))]
        yield module(f"partial_{name}", cases, DIMENSIONS["chip"], runs([1, 35]), "vector_width=8" + schedule)


def ring_modules(long):
    """Where rows are kept, and how far ahead they are copied, must not show in
    the bits, where the same threads own them and the same blocks walk them."""
    plans = [
        # Several subgroups a row. Whole vectors and a part of one are left over.
        ("wide", {"sm_90": 64, "gfx942": 128}, 1,
         [case(n=1128, casting="llama", weight="f32", output="dy"), case(n=1128, kind="residual", x="f16", dy="f16", dx="f16",
          rstd="computed"), case(n=1128, casting="none", dweight="weight", rstd="computed"), case(n=1000, weight="none", dweight="none"),
          case(n=1128, kind="forward", rows=("?", 2, "?"), offset=1), case(n=1128, casting="llama", rstd="computed", dweight="none")]),
        ("odd", {"sm_90": 192, "gfx942": 192}, 1,
         [case(n=1530, x="f32", dy="f32", dx="f32", output="x"), case(n=1530, casting="none", output="empty")]),
        # A subgroup or less a row.
        ("narrow", {"sm_90": 32, "gfx942": 64}, 4, [case(n=333, rstd="computed"), case(n=376, casting="llama", output="dy")]),
        ("part", {"sm_90": 16, "gfx942": 16}, 8, [case(n=128, offset=1), case(n=128, kind="residual", casting="llama"), case(n=128, dweight="none")]),
    ]
    schedules = ["cache=registers", "cache=reload,vectors_in_flight=1", "cache=shared", "cache=shared,stages=2",
                 "cache=shared,stages=3", "cache=shared,stages=4,vectors_in_flight=1", "cache=shared,stages=5"]
    for (name, threads, groups, cases), chip in itertools.product(plans, DIMENSIONS["chip"]):
        for i, schedule in enumerate(schedules):
            if chip == "gfx942" and i > 4:
                continue  # 64 KiB
            if not long and i <= 4 and not is_chosen(name, i, chip):
                continue
            yield module(f"ring_{name}_{i}_{chip}", cases, [chip], runs([0, 1, 35]),
                         f"vector_width=8,threads_per_row={threads[chip]},row_groups={groups},rows_per_group=1,"
                         f"blocks_per_sm=1,{schedule}", same_bits=f"ring_{name}_{chip}")
    # Vectors of four elements, 8 bytes.
    yield module("ring_fours", [case(n=1124)], DIMENSIONS["chip"], runs([1, 35], orders=3),
                 "threads_per_row=128,row_groups=1,rows_per_group=1,blocks_per_sm=1,cache=shared,stages=2")


def override_modules():
    """Schedules the selector does not choose, field by field."""
    cases = [case(n=376, x="bf16", dy="f32", dx="f32", weight="f32"),
             case(n=248, x="f16", dy="f16", dx="f16", dweight="weight", kind="residual", rstd="computed"),
             case(n=333, x="f32", dy="bf16", dx="f32", casting="llama", output="x")]
    for i, schedule in enumerate([
            "threads_per_row=64,row_groups=2,rows_per_group=3", "threads_per_row=64,row_groups=3,rows_per_group=1",
            "threads_per_row=32,row_groups=4,cache=reload,rows_per_group=1,vectors_in_flight=1",
            "vectors_in_flight=3,cache=reload,threads_per_row=64,row_groups=4,rows_per_group=2",
            "vector_width=1,threads_per_row=512,row_groups=1", "vector_width=16,rows_per_group=1,blocks_per_sm=1,threads_per_row=64",
            "threads_per_row=192,cache=registers,row_groups=2,blocks_per_sm=1,rows_per_group=2",
            "row_groups=1,rows_per_group=2,threads_per_row=128", "row_groups=1,rows_per_group=3,threads_per_row=128",
            "column_sums=strips,threads_per_row=64,row_groups=2,rows_per_group=2,cache=reload"]):
        chip = "sm_90" if i % 2 == 0 else "gfx942"
        yield module(f"override_{i}", cases, [chip], runs([7, 35]), schedule)


def place_modules():
    """Where operands are loaded, and what is unrolled, must not show in the bits either; nor whether the first reduction of
    a cluster is split, where there is one."""
    cases = [case(n=1128, constant=True, casting="llama", weight="f32"),
             case(n=1127, constant=True, rstd="computed", dweight="weight", offset=1, rows=(1, "?")),
             case(n=1000, constant=True, kind="residual", dweight="none", x="f16", dy="f16", dx="f16")]
    for i, schedule in enumerate(first + rest for first, several in PLACES for rest in several):
        blocks = "" if "blocks_per_sm" in schedule else "blocks_per_sm=1,"
        yield module(f"place_{i}", cases, ["sm_90"], runs([0, 7, 35]),
                     f"vector_width=8,threads_per_row=64,row_groups=2,rows_per_group=1,{blocks}{schedule}".rstrip(","),
                     # With other blocks rows are added up in another order.
                     same_bits=None if "blocks_per_sm=2" in schedule else "place")
    for i, schedule in enumerate(CLUSTER_PLACES):
        yield module(f"place_cluster_{i}", [cases[0], cases[2]], ["sm_90"], runs([0, 7, 35]),
                     f"vector_width=8,cluster=2,threads_per_row=64,cache=shared,blocks_per_sm=1,stages=3,{schedule}",
                     same_bits="place_cluster")


def sum_modules():
    """Schedules of the kernels that add up columns."""
    cases = [case(n=1128), case(n=333, dweight="weight", rstd="computed", casting="llama", x="f32", dy="f32", dx="f32")]
    for i, schedule in enumerate([
            "sum_lanes=16,sum_walkers=8,sum_in_flight=3", "sum_lanes=1,sum_walkers=64", "sum_lanes=64,sum_walkers=1", "blocks_per_sm=2,sm_margin=2,threads_per_row=128,rows_per_group=1",
            "column_sums=strips,sums=<threads_per_row=16,row_groups=8,rows_per_group=3,vector_width=4,cache=reload,"
            "column_sums=strips,blocks_per_sm=2>"]):
        yield module(f"sums_{i}", cases, DIMENSIONS["chip"], runs([0, 1, 35]), schedule)


def all_rows_modules():
    """Strips whose blocks do all rows, and store what others leave to be added up."""
    cases = [case(n=n, casting=casting, dweight=dweight, rstd=rstd, kind=kind)
             for n, casting, dweight, rstd, kind in ((1, "gemma", "f32", "given", "plain"), (3, "llama", "weight", "computed", "residual"),
                                                     (256, "none", "f32", "given", "plain"), (1128, "llama", "weight", "given", "plain"),
                                                     (333, "gemma", "weight", "computed", "residual"))]
    # One row group too: nothing meets in workgroup memory then.
    for i, groups in enumerate((8, 1)):
        schedule = (f"vector_width=8,column_sums=strips,sums=<threads_per_row=64,row_groups={groups},rows_per_group=3,vector_width=4,cache=reload,"
                    "column_sums=all_rows>")
        yield module(f"all_rows_{i}", cases, DIMENSIONS["chip"], runs([0, 1, 35]), schedule)
        # All that differs between classes of N is given, so that there is one.
        yield module(f"all_rows_dynamic_{i}", [case(n="?", dweight="weight")], DIMENSIONS["chip"],
                     runs([7], 1, 5, 136, 333), "threads_per_row=64,row_groups=4,rows_per_group=1,cache=reload,blocks_per_sm=2," + schedule)


def column_class_modules(long):
    """Run-time N on both sides of each bound between classes of N, in vectors of 16 bytes; in the short suite on the chip
    that `coverage` asks for."""
    plan = [{"rows": 3, "order": ORDERS[i % 3], "layout": layout, "dim": 8 * vectors + more}
            for vectors in (16, 32, 64, 128, 256, 512, 1024, 2048)
            for i, (more, layout) in enumerate([(0, "dense"), (0, "unaligned"), (-1, "dense"), (1, "dense"), (8, "dense")])]
    yield module("column_classes", [case(n="?")], DIMENSIONS["chip"] if long else ["sm_90"], plan)


def wide_modules():
    """Rows as models have them, few: up to the widest whose sums fit registers,
    and the one after that."""
    for n in (4096, 16384, 32768):
        cases = [case(n=n, casting=casting, dweight=dweight, rstd=rstd, output=output) for casting, dweight, rstd, output in (
            ("gemma", "f32", "given", "argument"), ("llama", "weight", "given", "dy"), ("none", "f32", "computed", "empty"))]
        yield module(f"models_{n}", cases, DIMENSIONS["chip"], [
            {"rows": 5, "order": "shuffled", "layout": "dense", "dim": None},
            {"rows": 2, "order": "forward", "layout": "unaligned", "dim": None}])


def chip_modules(chips):
    cases = [case(n=1128, weight="f32", rstd="computed"), case(n=128, casting="llama", rows=("?", 2, "?"))]
    for chip in chips:
        yield module(f"chip_{chip}", cases, [chip], [
            {"rows": 35, "order": "shuffled", "layout": "dense", "dim": None},
            {"rows": 35, "order": "reverse", "layout": "unaligned", "dim": None}])


def modules(chips=("sm_90", "gfx942"), long=True):
    return [*pairwise_modules(long), *partial_modules(), *strip_modules(), *strip_mode_modules(long), *cluster_modules(), *ring_modules(long),
            *override_modules(), *place_modules(), *sum_modules(), *all_rows_modules(), *column_class_modules(long), *wide_modules(), *chip_modules(chips)]


def coverage(need, enum_values, modes):
    """What must have been launched, beside what check.py asks of every suite."""
    sharing = ["part of a subgroup", "one subgroup", "2^k subgroups", "other number of subgroups"]
    tails = ["one column", "less than a vector", "none", "whole vectors", "part of a vector"]
    dynamic = ["dynamic, " + t for t in ["one column", "less than a vector", "whole vectors", "part of a vector"]]
    subgroup = ("subgroup", [32, 64])
    castings = ("casting", enum_values("Casting"))
    # Those that leave something to be added up; what does is all_rows, in each of them.
    places = ("sums", ["registers", "strips"])
    sums = ("sums", ["none", "registers", "strips"])
    need(("sums", enum_values("ColumnSums")), subgroup, ("variant", ["align16", "element"]))
    need(("sums", ["all_rows"]), castings)
    need(("sums", ["all_rows"]), ("tail", ["one column", "less than a vector", "none", "part of a vector", *dynamic]))
    need(("sums", ["all_rows"]), ("row count", [0, 1, 35]), ("dweight", ["f32", "weight"]))
    need(sums, ("tail", tails), subgroup)
    need(("sums", ["none", "strips"]), ("tail", dynamic))
    need(("sums", ["registers"]), ("sharing", sharing), subgroup)
    need(("sums", ["none", "strips"]), ("sharing", sharing))
    need(sums, ("variant", ["align16", "element"]), subgroup)
    need(sums, castings, ("rstd", DIMENSIONS["rstd"]))
    need(places, castings, ("dweight", ["f32", "weight"]))
    need(places, ("output", DIMENSIONS["output"]))
    need(sums, ("kind", ["plain", "residual"]))
    need(places, ("constant", [False, True]))
    need(("kind", DIMENSIONS["kind"]), castings)
    need(sums, ("row count", [0, 1, 7, 157]), subgroup)
    need(sums, ("order", ORDERS), ("layout", list(LAYOUTS)))
    need(places, ("rows", SEVERAL_ROWS))
    need(("sums", ["none"]), ("rows", DIMENSIONS["rows"]))
    need(("rows", [(), (1, 1)]), ("dweight", ["f32", "weight"]), castings)
    need(castings, ("offset", [0, 1]), ("weight", DIMENSIONS["weight"][1:]))
    need(("x", DIMENSIONS["x"]), ("dy", DIMENSIONS["dy"]))
    need(("x", DIMENSIONS["x"]), ("dx", DIMENSIONS["dx"]))
    need(("dy", DIMENSIONS["dy"]), ("dx", DIMENSIONS["dx"]))
    # Strips have no use for a ring, and are refused one.
    need(("cache", enum_values("Cache")), ("sums", ["none", "registers"]), subgroup)
    need(("cache", ["registers", "reload"]), ("sums", ["strips"]), ("mode", ["static_persistent"]), ("output", ["argument", "dy", "x"]))
    need(("cache", ["shared"]), ("stages", [0, 2, 3]), subgroup)
    need(("cache", ["shared"]), ("stages", [0, 2, 3]), castings)
    need(("cache", ["shared"]), ("variant", ["align16", "element"]))
    need(("cache", ["shared"]), ("width", [4]), ("variant", ["align8", "element"]))
    # Sums in registers are those of a persistent block.
    need(("mode", modes), ("sums", ["none", "strips"]))
    need(("mode", ["static_persistent"]), ("sums", ["registers"]))
    need(("mode", modes), ("output", DIMENSIONS["output"]))
    need(("mode", modes), ("kind", DIMENSIONS["kind"]))
    cluster = ("cluster", [2, 4, 8, 16])
    need(cluster, ("order", ORDERS), ("row count", [1, 7]))
    need(cluster, ("row count", [0]))
    need(cluster, castings, ("rstd", DIMENSIONS["rstd"]))
    need(cluster, ("kind", DIMENSIONS["kind"]))
    need(cluster, ("variant", ["align16", "element"]))
    need(cluster, ("tail", ["whole vectors", "part of a vector"]))
    need(("cluster", [2]), subgroup)
    need(("cluster", [2]), ("sums", ["strips"]))
    need((("cluster", "stages"), [(8, 3), (16, 4)]), castings, ("row count", [0, 1, 35]))
    need(("cluster", [4, 8, 16]), ("chosen", ["by the selector"]), ("order", ORDERS))
    need(("rows of a group", [1, 2, 3]), ("row groups", ["one", "several"]), ("sums", ["registers"]))
    need(("column edge", [f"{i}+0" for i in range(8)]), ("variant", ["element"]), ("chip", ["sm_90"]))
    need(("column edge", [f"{i}{more}" for i in range(4) for more in ("-1", "+1")]), ("variant", ["narrow"]), ("chip", ["sm_90"]))
    need(("column edge", [f"{i}+{more}" for i in range(8) for more in (0, 8)]), ("variant", ["align16"]), ("chip", ["sm_90"]))
    need(("columns", [n for n in DIMENSIONS["n"] if n != "?"] + [4096, 16384, 32768]))


if __name__ == "__main__":
    main(modules)
