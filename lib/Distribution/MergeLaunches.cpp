// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MergeLaunches.cpp - rmsnorm-merge-launches ------------------------===//
//
// Side by side in one grid, not one thread for both: the blocks of the first
// kernel come first, then those of the next, or they take turns.
//
//===----------------------------------------------------------------------===//

#include "RMSNorm/Distribution/Passes.h"
#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/IR/KernelTarget.h"

#include "Grid.h"
#include "KernelArguments.h"
#include "Limits.h"
#include "Turns.h"

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_MERGELAUNCHES
#include "RMSNorm/Distribution/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// Each makes the expression of the grid longer; a module takes 256 operations.
static constexpr size_t kMaxParts = 8;

/// More parts do not take turns: the host's expression for the first of three
/// is about as long as the grid of eight.
static constexpr size_t kMaxPartsInTurns = 3;

namespace {
/// A launch that may become a part of one, and the buffers of its kernel.
struct Part {
  gpu::LaunchFuncOp launch;
  gpu::GPUFuncOp kernel;
  int64_t threads, workgroupBytes;
  SmallVector<Value> read, written;
};
} // namespace

//===----------------------------------------------------------------------===//
// What a launch is
//===----------------------------------------------------------------------===//

/// The accesses of `kernel` to the buffer of each launch operand; false if they
/// are not known.
static bool collectBuffers(Part &part) {
  for (auto [operand, argument] :
       llvm::zip_equal(part.launch.getKernelOperands(),
                       part.kernel.getBody().front().getArguments())) {
    if (operand.getType().isIntOrIndexOrFloat())
      continue;
    auto pointer = operand.getDefiningOp<BufferPointerOp>();
    if (!pointer)
      return false;
    for (Operation *user : argument.getUsers()) {
      const bool reads = isa<GlobalLoadOp, AsyncCopyOp>(user);
      if (!reads && !isa<GlobalStoreOp>(user))
        return false;
      (reads ? part.read : part.written).push_back(pointer.getBuffer());
    }
  }
  return true;
}

/// `launch` as a part of another, if it can be one. A grid that follows from
/// the number of multiprocessors fills them, or leaves some free on purpose, so
/// it takes no other blocks. A cluster belongs to its own launch.
static std::optional<Part> getPart(gpu::LaunchFuncOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernel());
  if (!kernel || !getKernelTarget(kernel->getParentOp()) ||
      launch->hasAttr(RMSNormDialect::kBlocksPerMultiprocessorAttrName) ||
      launch.hasClusterSize() || launch.getAsyncToken() ||
      !launch.getAsyncDependencies().empty() || launch.getAsyncObject())
    return std::nullopt;
  const gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  const gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  if (!llvm::all_of(ArrayRef<Value>{grid.y, grid.z, block.y, block.z},
                    [](Value size) { return isOneInteger(size); }))
    return std::nullopt;
  SetVector<Operation *> slice;
  (void)getBackwardSlice(grid.x, &slice);
  if (llvm::any_of(slice, llvm::IsaPred<MultiprocessorCountOp>))
    return std::nullopt;
  std::optional<int64_t> threads = getConstantIntValue(block.x);
  std::optional<int64_t> bytes = 0;
  if (Value dynamic = launch.getDynamicSharedMemorySize())
    bytes = getConstantIntValue(dynamic);
  if (!threads || !bytes)
    return std::nullopt;
  WalkResult walk = kernel.walk([&](Operation *op) {
    return isa<gpu::BlockIdOp, gpu::GridDimOp>(op) &&
                   op->getParentOp() != kernel
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return std::nullopt;
  Part part{launch, kernel, *threads, *bytes, {}, {}};
  return collectBuffers(part) ? std::optional(part) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What is independent
//===----------------------------------------------------------------------===//

/// Whether the two may run at the same time, in blocks of the same kind.
static bool areIndependent(const Part &a, const Part &b,
                           AliasAnalysis &aliases) {
  auto isDependent = [](gpu::LaunchFuncOp launch) {
    return launch->hasAttr(RMSNormDialect::kDependentLaunchAttrName);
  };
  if (a.threads != b.threads ||
      a.kernel->getParentOp() != b.kernel->getParentOp() ||
      isDependent(a.launch) != isDependent(b.launch))
    return false;
  auto areAllDisjoint = [&](ArrayRef<Value> some, ArrayRef<Value> others) {
    return llvm::all_of(some, [&](Value x) {
      return llvm::all_of(others,
                          [&](Value y) { return areDisjoint(x, y, aliases); });
    });
  };
  return areAllDisjoint(a.written, b.written) &&
         areAllDisjoint(a.written, b.read) && areAllDisjoint(a.read, b.written);
}

//===----------------------------------------------------------------------===//
// One launch
//===----------------------------------------------------------------------===//

/// The names of the kernels; those after the first lack the part that they have
/// in common with it: "qk_multi_wave_cached_g8..._and_g4...".
static std::string getName(ArrayRef<Part> parts) {
  const StringRef first = Part(parts.front()).kernel.getName();
  std::string name = first.str();
  for (Part part : parts.drop_front()) {
    StringRef other = part.kernel.getName();
    size_t common = 0;
    for (size_t i = 0; i < std::min(first.size(), other.size()); ++i) {
      if (first[i] != other[i])
        break;
      if (first[i] == '_')
        common = i + 1;
    }
    name += ("_and_" + other.drop_front(common)).str();
  }
  return name;
}

/// Emits the work of block `block` of the `grid` of `part`.
static void emitPart(OpBuilder &builder, Part part, IRMapping &mapping,
                     Value block, Value grid) {
  for (Operation &op : part.kernel.getBody().front().without_terminator())
    if (isa<gpu::BlockIdOp, gpu::GridDimOp>(op))
      mapping.map(op.getResult(0), isa<gpu::BlockIdOp>(op) ? block : grid);
    else
      builder.clone(op, mapping);
}

/// `grid`, at most `limit`, which the sum of all is made of: one that CUDA and
/// HIP launch.
static Value limitGrid(ImplicitLocOpBuilder &host, Value grid, int64_t limit) {
  auto limited = grid.getDefiningOp<arith::MinUIOp>();
  if (std::optional<int64_t> given =
          limited ? getConstantIntValue(limited.getRhs()) : std::nullopt) {
    grid = limited.getLhs();
    limit = std::min(limit, *given);
  }
  return arith::MinUIOp::create(host, grid,
                                arith::ConstantIndexOp::create(host, limit));
}

/// Whether `part` reads rows that one of `others` reads: a weight is in the
/// caches anyway.
static bool sharesRows(const Part &part, ArrayRef<Part> others) {
  return llvm::any_of(others, [&](const Part &other) {
    return llvm::any_of(part.read, [&](Value x) {
      return cast<MemRefType>(x.getType()).getRank() > 1 &&
             llvm::any_of(other.read,
                          [&](Value y) { return isSameValue(x, y); });
    });
  });
}

/// The sum of each of `counts` and those after it.
static SmallVector<Value> emitSums(ImplicitLocOpBuilder &host,
                                   ArrayRef<Value> counts) {
  SmallVector<Value> sums(counts);
  for (size_t i = counts.size() - 1; i-- > 0;)
    sums[i] = arith::AddIOp::create(host, counts[i], sums[i + 1]);
  return sums;
}

/// The arguments of `part` as those of the merged kernel. One that another part
/// has, among `known`, is passed once.
static IRMapping mapArguments(Part part, KernelArguments &arguments,
                              SmallVector<Value> &known) {
  IRMapping mapping;
  for (auto [operand, argument] :
       llvm::zip_equal(part.launch.getKernelOperands(),
                       part.kernel.getBody().front().getArguments())) {
    auto *same = llvm::find_if(known, [operand = operand](Value other) {
      return isSameValue(operand, other);
    });
    Value given = same == known.end() ? operand : *same;
    if (same == known.end())
      known.push_back(operand);
    mapping.map(argument, arguments.getScalar(given));
  }
  return mapping;
}

/// The kernel of all `parts`, with no body yet. It has the registers that the
/// fewest blocks leave to each: one where a part does not say.
static gpu::GPUFuncOp createMerged(Location loc, ArrayRef<Part> parts) {
  Part last = parts.back();
  SymbolTable symbols(last.kernel->getParentOp());
  gpu::GPUFuncOp kernel =
      createKernel(loc, getName(parts), last.threads, symbols);
  std::optional<int64_t> fewest;
  bool isSaid = false;
  for (Part part : parts) {
    auto blocks = part.kernel->getAttrOfType<IntegerAttr>(
        RMSNormDialect::kMinBlocksAttrName);
    const int64_t count = blocks ? blocks.getInt() : 1;
    fewest = std::min(fewest.value_or(count), count);
    isSaid |= bool(blocks);
  }
  if (isSaid)
    kernel->setAttr(RMSNormDialect::kMinBlocksAttrName,
                    OpBuilder(kernel).getI64IntegerAttr(*fewest));
  return kernel;
}

/// Emits the parts, one in the branch that the others leave to it.
static void emitBody(ImplicitLocOpBuilder &builder, ArrayRef<Part> parts,
                     ArrayRef<Value> counts, ArrayRef<Value> sums,
                     KernelArguments &arguments, ImplicitLocOpBuilder &host) {
  const ChipInfo &chip =
      getKernelTarget(Part(parts.back()).kernel->getParentOp()).getChipInfo();
  Value block = gpu::BlockIdOp::create(builder, gpu::Dimension::x);
  Value grid = gpu::GridDimOp::create(builder, gpu::Dimension::x);
  SmallVector<Value> known;
  for (auto [index, one] : llvm::enumerate(parts)) {
    Part part = one;
    IRMapping mapping = mapArguments(part, arguments, known);
    if (index + 1 == parts.size())
      return emitPart(builder, part, mapping, block, grid);
    Value here = arguments.getScalar(counts[index]);
    Value rest = arith::SubIOp::create(builder, grid, here);
    ArrayRef<Part> others = parts.drop_front(index + 1);
    Place place =
        parts.size() <= kMaxPartsInTurns && sharesRows(part, others)
            ? emitPlaceInTurns(builder, block, here,
                               arguments.getScalar(createShare(
                                   host, sums[index + 1], sums[index], chip)))
            : emitPlace(builder, block, here);
    auto branch =
        scf::IfOp::create(builder, place.isInPart, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitPart(builder, part, mapping, place.numberInPart, here);
    builder.setInsertionPointToStart(branch.elseBlock());
    block = place.numberInRest;
    grid = rest;
  }
}

/// Makes one kernel and one launch, where the last of them stands.
static void merge(ArrayRef<Part> parts) {
  Part last = parts.back();
  SmallVector<Location> locations;
  int64_t workgroupBytes = 0;
  for (const Part &part : parts) {
    locations.push_back(Part(part).launch.getLoc());
    workgroupBytes = std::max(workgroupBytes, part.workgroupBytes);
  }
  Location loc = FusedLoc::get(last.launch.getContext(), locations);
  gpu::GPUFuncOp kernel = createMerged(loc, parts);
  ImplicitLocOpBuilder host(loc, last.launch);
  auto builder =
      ImplicitLocOpBuilder::atBlockEnd(loc, &kernel.getBody().front());
  KernelArguments arguments(host, kernel.getBody().front());

  SmallVector<Value> counts;
  for (Part part : parts)
    counts.push_back(limitGrid(host, part.launch.getGridSizeX(),
                               getMaxBlocks(last.threads) / parts.size()));
  const SmallVector<Value> sums = emitSums(host, counts);
  emitBody(builder, parts, counts, sums, arguments, host);
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(builder);
  gpu::LaunchFuncOp launch = createLaunch(
      host, kernel, sums.front(), last.threads, workgroupBytes, arguments);
  launch->setDiscardableAttrs(last.launch->getDiscardableAttrDictionary());
  for (Part part : parts) {
    part.launch.erase();
    if (SymbolTable::symbolKnownUseEmpty(
            part.kernel, part.kernel->getParentOp()->getParentOp()))
      part.kernel.erase();
  }
}

namespace {
struct MergeLaunches final : rmsnorm::impl::MergeLaunchesBase<MergeLaunches> {
  using MergeLaunchesBase::MergeLaunchesBase;

  void runOnOperation() override {
    llvm::SetVector<Block *> blocks;
    getOperation().walk(
        [&](gpu::LaunchFuncOp launch) { blocks.insert(launch->getBlock()); });
    for (Block *block : blocks)
      mergeIn(*block);
  }

  void mergeIn(Block &block) {
    AliasAnalysis &aliases = getAnalysis<AliasAnalysis>();
    SmallVector<SmallVector<Part>> groups(1);
    for (Operation &op : block) {
      auto launch = dyn_cast<gpu::LaunchFuncOp>(op);
      std::optional<Part> part = launch ? getPart(launch) : std::nullopt;
      if (!part) {
        if (launch || !mayCross(op))
          groups.emplace_back();
        continue;
      }
      if (!fits(groups.back(), *part, aliases))
        groups.emplace_back();
      groups.back().push_back(std::move(*part));
    }
    for (ArrayRef<Part> group : groups)
      if (group.size() > 1)
        merge(group);
  }

  static bool fits(ArrayRef<Part> group, const Part &part,
                   AliasAnalysis &aliases) {
    // Of all but the last the blocks, of those that may take turns the share.
    size_t parameters =
        Part(part).launch.getNumKernelOperands() + kMaxPartsInTurns - 1;
    for (Part other : group)
      parameters += other.launch.getNumKernelOperands() + 1;
    return group.size() < kMaxParts && parameters <= rmsn::kMaxParameters &&
           llvm::all_of(group, [&](const Part &other) {
             return areIndependent(other, part, aliases);
           });
  }
};
} // namespace
