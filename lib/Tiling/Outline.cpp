// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Outline.cpp - rmsnorm-outline-clusters -----------------------------===//

#include "ClusterTiler.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/Locations.h"
#include "RMSNorm/Source/Elementwise.h"
#include "RMSNorm/Tiling/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_OUTLINECLUSTERS
#include "RMSNorm/Tiling/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;
namespace json = llvm::json;

static json::Object print(Value value) {
  std::string type;
  llvm::raw_string_ostream(type) << value.getType();
  return json::Object{{"type", type}, {"location", toJSON(value.getLoc())}};
}

namespace {
/// The ops and values of a cluster's function.
class Outliner {
public:
  Outliner(const access::Cluster &cluster, SmallVector<Value> computed);

  /// Makes the function, behind the one that the cluster is in, and puts a call
  /// in the place of what it computes.
  func::CallOp run(SymbolTable &symbols);
  json::Object describe(func::CallOp call) const;

private:
  void need(Value value);
  void needSize(Value size);
  bool isSize(Value value) const;
  bool isInside(Operation *op) const;
  void handOver(Value value, Value called, DenseSet<Operation *> &made,
                Operation *&last);

  const access::Cluster &cluster;
  SmallVector<Value> results;
  Block *block;
  /// What the cluster computes; what stands in the function, that and what it
  /// needs of views, sizes and constants.
  llvm::SetVector<Operation *> computing, inside;
  llvm::SetVector<Value> inputs;
  /// Sizes, and the dimensions of inputs that they are.
  llvm::SetVector<Value> sizes;
  DenseMap<Value, std::pair<Value, int64_t>> dims;
  json::Array members;
};
} // namespace

Outliner::Outliner(const access::Cluster &cluster, SmallVector<Value> computed)
    : cluster(cluster), results(std::move(computed)),
      block(cluster.getAnchor()->getBlock()), computing(getOps(cluster)) {
  auto isReshape = [](Value value) {
    return isa_and_present<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                           tensor::CastOp>(value.getDefiningOp());
  };
  // A module reshapes a result once.
  for (Value &result : results)
    while (isReshape(result) &&
           isReshape(result.getDefiningOp()->getOperand(0)))
      result = result.getDefiningOp()->getOperand(0);
  // A sum is stored in the type that others convert it to.
  for (Value result : results)
    for (Operation *op = result.getDefiningOp();
         op && !computing.contains(op) && !access::isView(op) &&
         op->getBlock() == block && op->getNumOperands() > 0;
         op = op->getOperand(0).getDefiningOp())
      computing.insert(op);
  for (const access::Member &member : cluster.getMembers())
    members.push_back(json::Object{{"op", getWrittenName(member.op)},
                                   {"location", toJSON(member.op->getLoc())}});
  for (Value result : results)
    need(result);
  for (size_t i = 0; i < sizes.size(); ++i)
    needSize(sizes[i]);
}

/// Whether a module knows `value`, an index, from sizes of its arguments.
bool Outliner::isSize(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  return op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::DimOp>(op) ||
         (isPure(op) && op->getNumRegions() == 0 && op->getBlock() == block &&
          llvm::all_of(op->getOperands(),
                       [&](Value operand) { return isSize(operand); }));
}

/// Whether `op` is computed in the function: scalars, constants, views and what
/// is new or filled are there again.
bool Outliner::isInside(Operation *op) const {
  // A module has constants of one value.
  SplatElementsAttr splat;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return !isa<ShapedType>(op->getResult(0).getType()) ||
           matchPattern(op, m_Constant(&splat));
  if (isa<tensor::EmptyOp>(op))
    return true;
  if (op->getBlock() != block)
    return false;
  if (computing.contains(op) || access::getFilled(op))
    return true;
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (access::isView(op))
    return llvm::all_of(llvm::drop_begin(op->getOperands()),
                        [&](Value operand) { return isSize(operand); });
  return isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), isScalar) &&
         llvm::all_of(op->getResultTypes(), isScalar);
}

void Outliner::need(Value value) {
  Operation *op = value.getDefiningOp();
  if (value.getType().isIndex() &&
      (!op || isa<tensor::DimOp>(op) || !isInside(op))) {
    sizes.insert(value);
    return;
  }
  if (!op || !isInside(op)) {
    inputs.insert(value);
    return;
  }
  if (!inside.insert(op))
    return;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  captured.insert(op->operand_begin(), op->operand_end());
  // What is written in place is the tensor itself.
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
      insertion && access::isView(insertion.getDest().getDefiningOp())) {
    captured.remove(insertion.getDest());
    inputs.insert(insertion.getDest());
  }
  llvm::for_each(captured, [&](Value operand) { need(operand); });
}

/// Sizes are those of tensors that are there anyway, if there is one.
void Outliner::needSize(Value size) {
  const DimSource source = traceSize(size);
  for (Value input : inputs)
    if (auto type = dyn_cast<RankedTensorType>(input.getType()))
      for (int64_t dim : llvm::seq(type.getRank()))
        if (type.isDynamicDim(dim) && traceDim(input, dim) == source) {
          dims[size] = {input, dim};
          return;
        }
  if (auto dim = size.getDefiningOp<tensor::DimOp>();
      dim && dim.getConstantIndex()) {
    inputs.insert(dim.getSource());
    dims[size] = {dim.getSource(), *dim.getConstantIndex()};
  } else {
    inputs.insert(size);
  }
}

/// Gives all outside of the function `called` for `value`, and views of it for
/// those of `value` that are in the function; they are `made` after `last`.
void Outliner::handOver(Value value, Value called, DenseSet<Operation *> &made,
                        Operation *&last) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    Operation *user = use.getOwner();
    if (made.contains(user))
      continue;
    if (!inside.contains(user)) {
      use.set(called);
      continue;
    }
    if (!access::isView(user) || use.getOperandNumber() != 0 ||
        user->use_empty())
      continue;
    Operation *view = OpBuilder(user).clone(*user);
    view->moveAfter(last);
    view->setOperand(0, called);
    made.insert(last = view);
    handOver(user->getResult(0), view->getResult(0), made, last);
  }
}

func::CallOp Outliner::run(SymbolTable &symbols) {
  auto caller = block->getParentOp()->getParentOfType<func::FuncOp>();
  if (!caller)
    caller = cast<func::FuncOp>(block->getParentOp());
  OpBuilder builder(caller.getContext());
  builder.setInsertionPointAfter(caller);
  auto type =
      builder.getFunctionType(ValueRange(inputs.getArrayRef()).getTypes(),
                              ValueRange(results).getTypes());
  auto function =
      func::FuncOp::create(builder, cluster.getAnchor()->getLoc(),
                           (caller.getName() + "_rows").str(), type);
  symbols.insert(function, std::next(caller->getIterator()));
  Block *body = function.addEntryBlock();
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip_equal(inputs, body->getArguments())) {
    argument.setLoc(input.getLoc());
    mapping.map(input, argument);
  }
  builder.setInsertionPointToStart(body);
  for (Value size : sizes)
    if (auto dim = dims.find(size); dim != dims.end()) {
      auto [input, number] = dim->second;
      mapping.map(size, tensor::DimOp::create(builder, size.getLoc(),
                                              mapping.lookup(input), number));
    }
  // What is outside of the block are constants.
  SmallVector<Operation *> order(inside.begin(), inside.end());
  llvm::stable_sort(order, [&](Operation *a, Operation *b) {
    if (a->getBlock() != block || b->getBlock() != block)
      return a->getBlock() != block && b->getBlock() == block;
    return a->isBeforeInBlock(b);
  });
  for (Operation *op : order)
    builder.clone(*op, mapping);
  SmallVector<Value> returned;
  for (Value result : results)
    returned.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, function.getLoc(), returned);

  // The last op that computes has all inputs in front of it.
  Operation *last = nullptr;
  for (Operation *op : inside)
    if (computing.contains(op) && (!last || last->isBeforeInBlock(op)))
      last = op;
  builder.setInsertionPointAfter(last);
  auto call = func::CallOp::create(builder, function.getLoc(), function,
                                   inputs.getArrayRef());
  DenseSet<Operation *> made = {call};
  last = call;
  for (auto [value, called] : llvm::zip_equal(results, call.getResults()))
    handOver(value, called, made, last);
  moveUsers(made, block->begin(), last);
  return call;
}

json::Object Outliner::describe(func::CallOp call) const {
  json::Array operands, returned;
  for (Value input : inputs)
    operands.push_back(print(input));
  for (Value result : results)
    returned.push_back(print(result));
  return json::Object{{"function", call.getCallee()},
                      {"members", json::Array(members)},
                      {"operands", std::move(operands)},
                      {"results", std::move(returned)}};
}

namespace {
struct OutlineClusters final
    : rmsnorm::impl::OutlineClustersBase<OutlineClusters> {
  using OutlineClustersBase::OutlineClustersBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    DenseSet<Operation *> outlined;
    json::Array functions, refusals;
    auto make = [&](RewriterBase &rewriter, const access::Cluster &cluster,
                    bool onAllChips,
                    Operation *&kernel) -> std::optional<NoProgram> {
      SmallVector<Value> results;
      if (std::optional<NoProgram> problem = whyNoRows(
              rewriter, cluster, /*amongOthers=*/true, onAllChips, &results))
        return problem;
      Outliner outliner(cluster, std::move(results));
      func::CallOp call = outliner.run(symbols);
      functions.push_back(outliner.describe(call));
      outlined.insert(symbols.lookup(call.getCallee()));
      // The cluster, and views of what it reads and computes.
      for (Operation &op :
           llvm::make_early_inc_range(llvm::reverse(*call->getBlock())))
        if (isOpTriviallyDead(&op))
          rewriter.eraseOp(&op);
      kernel = call;
      return std::nullopt;
    };
    SmallVector<ClusterRemark> remarks;
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (failed(makeKernels(function, /*required=*/false, make, remarks)))
        return signalPassFailure();
    for (const ClusterRemark &remark : remarks)
      refusals.push_back(json::Object{{"op", remark.name},
                                      {"location", toJSON(remark.where)},
                                      {"what", remark.what.trim()},
                                      {"reason", remark.reason}});
    json::Array rest = describeRest(outlined);
    if (dropRest)
      for (auto function :
           llvm::to_vector(getOperation().getOps<func::FuncOp>()))
        if (!outlined.contains(function))
          symbols.erase(function);
    if (!report.empty() &&
        failed(write(json::Object{{"functions", std::move(functions)},
                                  {"rest", std::move(rest)},
                                  {"refusals", std::move(refusals)}})))
      return signalPassFailure();
  }

private:
  /// The ops that compute in none of the functions `outlined`.
  json::Array describeRest(const DenseSet<Operation *> &outlined) {
    json::Array rest;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!outlined.contains(function))
        function.walk([&](Operation *op) {
          auto call = dyn_cast<func::CallOp>(op);
          if (isa<tensor::EmptyOp, tensor::DimOp>(op) ||
              op->hasTrait<OpTrait::ConstantLike>() ||
              op->hasTrait<OpTrait::IsTerminator>() || access::isView(op) ||
              access::getFilled(op) ||
              (call && outlined.contains(SymbolTable::lookupNearestSymbolFrom(
                           call, call.getCalleeAttr()))) ||
              !isa<func::FuncOp>(op->getParentOp()))
            return;
          rest.push_back(json::Object{{"op", getWrittenName(op)},
                                      {"location", toJSON(op->getLoc())}});
        });
    return rest;
  }

  LogicalResult write(json::Object text) {
    std::string error;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(report, &error);
    if (!file)
      return getOperation().emitError(error);
    file->os() << llvm::formatv("{0:2}\n", json::Value(std::move(text)));
    file->keep();
    return success();
  }
};
} // namespace
