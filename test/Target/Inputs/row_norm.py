"""Prints a row norm as thread-level IR, one row a block, registers kept
packed over the reduction. Usage:

    row_norm.py CHIP SUBGROUP THREADS VECTORS [--columns N] [--type bf16]
                [--alignment 16]

A thread owns VECTORS vectors of 8 elements. With N < 8 * THREADS * VECTORS the
accesses carry `valid`.
"""
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("chip")
parser.add_argument("subgroup", type=int)
parser.add_argument("threads", type=int)
parser.add_argument("vectors", type=int)
parser.add_argument("--columns", type=int)
parser.add_argument("--type", default="bf16")
parser.add_argument("--alignment", type=int, default=16)
args = parser.parse_args()

width = args.threads * 8
columns = args.columns or width * args.vectors
backend = "nvvm" if args.chip.startswith("sm_") else "rocdl"
warps = args.threads // args.subgroup
narrow, wide = f"vector<8x{args.type}>", "vector<8xf32>"
lines = []
emit = lines.append


def extend(result, value):
    if args.type == "f32":
        return value
    emit(f"{result} = arith.extf {value} : {narrow} to {wide}")
    return result


emit(f'module attributes {{rmsnorm.target = #rmsnorm.target<{backend} "{args.chip}">}} {{')
emit(f'gpu.module @kernels [#rmsnorm.target<{backend} "{args.chip}">] {{')
emit("gpu.func @row_norm(%x: !llvm.ptr<1>, %w: !llvm.ptr<1>, %y: !llvm.ptr<1>, %rows: i64, %xs: i64, %ys: i64, %eps: f32) kernel")
emit(f"attributes {{known_block_size = array<i32: {args.threads}, 1, 1>}} {{")
emit(f"""%c0 = arith.constant 0 : i32
%c0l = arith.constant 0 : i64
%c2 = arith.constant 2 : i32
%c8 = arith.constant 8 : i32
%n = arith.constant {columns} : i32
%subgroup = arith.constant {args.subgroup} : i32
%inv = arith.constant {1.0 / columns:.9e} : f32
%zero = arith.constant dense<0.0> : {wide}
%t = gpu.thread_id x
%b = gpu.block_id x
%ti = arith.index_castui %t : index to i32
%r = arith.index_cast %b : index to i64
%xr = arith.muli %r, %xs : i64
%yr = arith.muli %r, %ys : i64
%col0 = arith.muli %ti, %c8 overflow<nsw, nuw> : i32""")
valid = {}
for i in range(args.vectors):
    if i:
        emit(f"%tile{i} = arith.constant {i * width} : i32")
        emit(f"%col{i} = arith.addi %col0, %tile{i} overflow<nsw, nuw> : i32")
    valid[i] = ""
    if (i + 1) * width > columns:
        emit(f"%valid{i} = arith.subi %n, %col{i} : i32")
        valid[i] = f"valid(%valid{i}) "
    emit(f"%x{i} = rmsnorm.global_load %x[%xr, %col{i}] {valid[i]}alignment({args.alignment}) : {narrow}")
previous = "%zero"
for i in range(args.vectors):
    value = extend(f"%f{i}", f"%x{i}")
    emit(f"%q{i} = math.fma {value}, {value}, {previous} : {wide}")
    previous = f"%q{i}"
emit(f"%s = vector.reduction <add>, {previous} : {wide} into f32")
emit(f"%sum0 = rmsnorm.subgroup_reduce add %s width({args.subgroup}) : f32")
total = "%sum0"
if warps > 1:
    emit(f"""%lane = arith.remui %ti, %subgroup : i32
%warp = arith.divui %ti, %subgroup : i32
%first = arith.cmpi eq, %lane, %c0 : i32
%slot = arith.shli %warp, %c2 overflow<nsw, nuw> : i32
%warps = arith.constant {warps} : i32
%part = arith.remui %lane, %warps : i32
%partslot = arith.shli %part, %c2 overflow<nsw, nuw> : i32
scf.if %first {{
  rmsnorm.workgroup_store %sum0, %slot : f32
}}
rmsnorm.barrier
%p = rmsnorm.workgroup_load %partslot : f32
%sum1 = rmsnorm.subgroup_reduce add %p width({warps}) : f32""")
    total = "%sum1"
emit(f"%ms = math.fma {total}, %inv, %eps : f32")
emit("%rstd = math.rsqrt %ms : f32")
emit(f"%rv = vector.broadcast %rstd : f32 to {wide}")
for i in range(args.vectors):
    emit(f"%k{i} = rmsnorm.keep %x{i} after %rstd : {narrow}, f32")
    emit(f"%w{i} = rmsnorm.global_load %w[%c0l, %col{i}] {valid[i]}alignment({args.alignment}) : {narrow}")
    x, w = extend(f"%kf{i}", f"%k{i}"), extend(f"%wf{i}", f"%w{i}")
    emit(f"%n{i} = arith.mulf {x}, %rv : {wide}")
    emit(f"%y{i} = arith.mulf %n{i}, {w} : {wide}")
    result = f"%y{i}"
    if args.type != "f32":
        result = f"%h{i}"
        emit(f"{result} = arith.truncf %y{i} : {wide} to {narrow}")
    emit(f"rmsnorm.global_store {result}, %y[%yr, %col{i}] {valid[i]}alignment({args.alignment}) : {narrow}")
emit("gpu.return\n}\n}\n}")
print("\n".join(lines))
