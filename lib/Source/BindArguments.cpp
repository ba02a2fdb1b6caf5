// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BindArguments.cpp - rmsnorm-bind-arguments ------------------------===//

#include "IndexArguments.h"
#include "RMSNorm/Source/Destinations.h"
#include "Reshapes.h"
#include "ScalarArguments.h"
#include "ShapeSymbols.h"
#include "SizeConstraints.h"

#include "RMSNorm/Access/Loops.h"
#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Source/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_BINDARGUMENTS
#include "RMSNorm/Source/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;
using bufferization::BufferizationDialect;

/// What `operand` is to the norm that owns it, or empty.
static StringRef getOperandRole(OpOperand &operand) {
  auto find = [&](auto norm, ArrayRef<StringLiteral> roles) -> StringRef {
    for (auto [index, role] : llvm::enumerate(roles)) {
      auto [start, length] = norm.getODSOperandIndexAndLength(index);
      if (length == 1 && start == operand.getOperandNumber())
        return role;
    }
    return "";
  };
  if (auto norm = dyn_cast<ForwardOp>(operand.getOwner()))
    return find(norm, {"input", "weight", "output", "rstd"});
  if (auto norm = dyn_cast<BackwardOp>(operand.getOwner()))
    return find(norm, {"dy", "input", "weight", "rstd", "dx", "dweight"});
  return "";
}

namespace {
/// Rewrites one public function.
class FunctionBinder {
public:
  explicit FunctionBinder(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  LogicalResult run();

private:
  void copyShared(OpOperand &returned);
  LogicalResult bindResult(OpOperand &returned);
  FailureOr<OpOperand *> findDestination(OpOperand &returned);
  LogicalResult addArgument(OpOperand &returned, OpOperand &destination);
  FailureOr<SmallVector<std::string>> chooseNames();
  LogicalResult setAttributes(ArrayRef<std::string> names);
  void replaceDims();

  func::FuncOp function;
  OpBuilder builder;
  Operation *terminator = nullptr;
  ShapeSymbols symbols;
  /// The result that is computed into an argument.
  llvm::DenseMap<Value, unsigned> boundResults;
  /// Names for arguments that this pass made, before they are made unique.
  llvm::DenseMap<Value, std::string> newNames;
};
} // namespace

/// Whether `use` returns what it has, or a reshape of it.
static bool isReturned(OpOperand &use) {
  return isa<func::ReturnOp>(use.getOwner()) ||
         (isReshape(use.getOwner()) &&
          llvm::any_of(use.getOwner()->getUses(), isReturned));
}

static bool isReturnedElsewhere(OpOperand &use) {
  return llvm::any_of(use.get().getUses(), [&](OpOperand &other) {
    return &other != &use && isReturned(other);
  });
}

/// Whether nothing computes `value` into a tensor of its own: it is an
/// argument, a constant, a slice, or is computed into one.
static bool isThere(Value value) {
  bool isComputed = false;
  while (Operation *op = value.getDefiningOp()) {
    if (isReshape(op)) {
      value = op->getOperand(0);
    } else if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = destination.getTiedOpOperand(cast<OpResult>(value))->get();
      isComputed = true;
    } else {
      return access::isView(op) || op->hasTrait<OpTrait::ConstantLike>();
    }
  }
  return !isComputed;
}

/// Copies what is there without being computed, what is returned twice, and
/// what is returned in another shape and elsewhere, too: each result has a
/// destination of its own.
void FunctionBinder::copyShared(OpOperand &returned) {
  OpOperand *use = &returned;
  const bool isSecond = llvm::any_of(
      terminator->getOpOperands().take_front(returned.getOperandNumber()),
      [&](OpOperand &other) { return other.get() == returned.get(); });
  const bool isCopied = isSecond || isThere(returned.get());
  while (!isCopied && isReshape(use->get().getDefiningOp()))
    use = &use->get().getDefiningOp()->getOpOperand(0);
  Value value = use->get();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || (!isCopied && (use == &returned || !value.getDefiningOp() ||
                              !isReturnedElsewhere(*use))))
    return;
  builder.setInsertionPoint(use->getOwner());
  Location loc = value.getLoc();
  auto empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, value),
      type.getElementType());
  use->set(linalg::CopyOp::create(builder, loc, value, empty.getResult())
               ->getResult(0));
}

/// Follows a returned value to the operand through which its destination, an
/// argument or a tensor.empty, enters.
FailureOr<OpOperand *> FunctionBinder::findDestination(OpOperand &returned) {
  OpOperand *use = &returned;
  bool isComputed = false;
  while (true) {
    Value value = use->get();
    Operation *op = value.getDefiningOp();
    bool isRoot = isa<BlockArgument>(value) || isa<tensor::EmptyOp>(op);
    if (isRoot && isComputed)
      return use;
    if (isReshape(op)) {
      use = &op->getOpOperand(0);
      continue;
    }
    auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(op);
    // Of tensors only insertions of slices are followed.
    if (isa_and_present<tensor::InsertOp>(op))
      destination = {};
    if (!isRoot && !destination && !access::isView(op) &&
        !op->hasTrait<OpTrait::ConstantLike>())
      return op->emitOpError("expected result #")
             << returned.getOperandNumber()
             << " to be computed by norms, linalg and elementwise ops, "
                "reshapes, slices and insertions, which kernels are made of, "
                "got "
             << (isa<tensor::PadOp>(op)
                     ? "a padding that is not by a constant, or begins at a "
                       "place that is not static"
                     : "an op that is in no kernel")
             << "; functions with other work are for rmsnorm-embed-tensors";
    if (isRoot || !destination) {
      InFlightDiagnostic error = terminator->emitOpError("expected result #")
                                 << returned.getOperandNumber()
                                 << " to be computed into a destination, got ";
      if (auto argument = dyn_cast<BlockArgument>(value))
        return error << "argument #" << argument.getArgNumber() << " as it is";
      return error << "a value of '" << op->getName() << "'";
    }
    if (use != &returned && !value.hasOneUse()) {
      // Another result is what the destination holds: compute into a new one.
      if (isReturnedElsewhere(*use) && !isReshape(use->getOwner()) &&
          !isInitRead(*use)) {
        builder.setInsertionPoint(use->getOwner());
        auto type = cast<RankedTensorType>(value.getType());
        SmallVector<OpFoldResult> sizes =
            tensor::getMixedSizes(builder, value.getLoc(), value);
        auto empty = tensor::EmptyOp::create(builder, value.getLoc(), sizes,
                                             type.getElementType());
        use->set(empty);
        return use;
      }
      // A fill serves one destination.
      if (access::getFilled(op)) {
        builder.setInsertionPoint(op);
        destination = cast<DestinationStyleOpInterface>(builder.clone(*op));
        use->set(destination->getResult(0));
        value = use->get();
      }
    }
    use = destination.getTiedOpOperand(cast<OpResult>(value));
    isComputed = true;
  }
}

LogicalResult FunctionBinder::addArgument(OpOperand &returned,
                                          OpOperand &destination) {
  unsigned number = returned.getOperandNumber();
  Value empty = destination.get();
  Operation *reshape = nullptr;
  OpResult result;
  // From what is returned to what is computed into the destination.
  for (Value value = returned.get(); value != empty;) {
    Operation *op = value.getDefiningOp();
    if (!isReshape(op)) {
      if (!result)
        result = cast<OpResult>(value);
      value = cast<DestinationStyleOpInterface>(op)
                  .getTiedOpOperand(cast<OpResult>(value))
                  ->get();
      continue;
    }
    if (reshape)
      return terminator->emitOpError("expected result #")
             << number << " to be reshaped once at most, got '"
             << reshape->getName() << "' of '" << op->getName() << "'";
    reshape = op;
    value = op->getOperand(0);
  }
  Type type = returned.get().getType();
  if (failed(function.insertArgument(function.getNumArguments(), type,
                                     DictionaryAttr::get(function.getContext()),
                                     empty.getLoc())))
    return failure();
  BlockArgument argument = function.getArguments().back();
  if (failed(symbols.uniteShapes(destination.getOwner(), argument,
                                 returned.get(),
                                 cast<ShapedType>(type).getRank())))
    return failure();
  Value target = argument;
  if (reshape) {
    // The sizes of what is computed stand where its destination was made.
    builder.setInsertionPointAfterValue(empty);
    target = undoReshape(builder, reshape, argument, empty);
    if (failed(
            symbols.uniteShapes(reshape, target, empty,
                                cast<ShapedType>(empty.getType()).getRank())))
      return failure();
  }
  destination.set(target);
  std::string &name = newNames[argument];
  name = ("result" + Twine(number)).str();
  StringRef role =
      getOperandRole(*cast<DestinationStyleOpInterface>(result.getOwner())
                          .getTiedOpOperand(result));
  if (!role.empty())
    name = role.str();
  return success();
}

LogicalResult FunctionBinder::bindResult(OpOperand &returned) {
  unsigned number = returned.getOperandNumber();
  if (!isa<RankedTensorType>(returned.get().getType()))
    return terminator->emitOpError("expected result #")
           << number << " to be a ranked tensor, got "
           << returned.get().getType();
  for (OpOperand &other : terminator->getOpOperands())
    if (other.getOperandNumber() < number && other.get() == returned.get())
      return terminator->emitOpError("expected each value to be returned "
                                     "once, got results #")
             << other.getOperandNumber() << " and #" << number << " the same";
  FailureOr<OpOperand *> destination = findDestination(returned);
  if (failed(destination))
    return failure();
  if (isa<OpResult>((*destination)->get()) &&
      failed(addArgument(returned, **destination)))
    return failure();
  Value argument = (*destination)->get();
  while (Operation *reshape = argument.getDefiningOp())
    argument = reshape->getOperand(0);
  auto [it, inserted] = boundResults.try_emplace(argument, number);
  if (!inserted)
    return terminator->emitOpError("expected a destination for each result, "
                                   "got argument #")
           << cast<BlockArgument>(argument).getArgNumber() << " for results #"
           << it->second << " and #" << number;
  // Folding may leave nothing else that says so: a result may be the identity
  // of another argument.
  unsigned argumentNumber = cast<BlockArgument>(argument).getArgNumber();
  function.setResultAttr(number, RMSNormDialect::kArgumentAttrName,
                         builder.getI64IntegerAttr(argumentNumber));
  if (Attribute name =
          function.getResultAttr(number, RMSNormDialect::kNameAttrName)) {
    function.setArgAttr(argumentNumber, RMSNormDialect::kNameAttrName, name);
    function.removeResultAttr(
        number,
        StringAttr::get(function.getContext(), RMSNormDialect::kNameAttrName));
  }
  return success();
}

static bool isBefore(OpOperand &a, OpOperand &b) {
  return a.getOwner() == b.getOwner()
             ? a.getOperandNumber() < b.getOperandNumber()
             : a.getOwner()->isBeforeInBlock(b.getOwner());
}

FailureOr<SmallVector<std::string>> FunctionBinder::chooseNames() {
  SmallVector<std::string> names(function.getNumArguments());
  llvm::StringSet<> taken;
  // The user's names are kept, so they come first.
  for (unsigned i = 0; i < names.size(); ++i) {
    auto name =
        function.getArgAttrOfType<StringAttr>(i, RMSNormDialect::kNameAttrName);
    if (!name)
      continue;
    if (!taken.insert(name).second)
      return function.emitOpError("expected arguments with different names, "
                                  "got '")
             << name.getValue() << "' twice";
    names[i] = name.str();
  }
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (!names[i].empty())
      continue;
    std::string name = newNames.lookup(argument);
    if (auto loc = dyn_cast<NameLoc>(argument.getLoc()); loc && name.empty())
      name = loc.getName().str();
    if (name.empty()) {
      OpOperand *first = nullptr;
      for (OpOperand &use : argument.getUses())
        if (use.getOwner()->getBlock() == &function.front() &&
            !getOperandRole(use).empty() && (!first || isBefore(use, *first)))
          first = &use;
      name = first ? getOperandRole(*first).str() : ("arg" + Twine(i)).str();
    }
    names[i] = name;
    for (unsigned suffix = 1; !taken.insert(names[i]).second; ++suffix)
      names[i] = (name + "_" + Twine(suffix)).str();
  }
  return names;
}

LogicalResult FunctionBinder::setAttributes(ArrayRef<std::string> names) {
  llvm::DenseMap<AffineExpr, int64_t> symbolNumbers;
  auto getSize = [&](Value value, int64_t dim) {
    AffineExpr size = symbols.getSize(value, dim);
    if (auto constant = dyn_cast<AffineConstantExpr>(size))
      return constant.getValue();
    int64_t next = -1 - static_cast<int64_t>(symbolNumbers.size());
    return symbolNumbers.try_emplace(size, next).first->second;
  };
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    auto dims =
        llvm::map_to_vector(llvm::seq<int64_t>(type.getRank()),
                            [&](int64_t d) { return getSize(argument, d); });
    const bool written = boundResults.count(argument);
    // What nobody gave has no elements to be read.
    const bool isNew = newNames.count(argument);
    StringRef role =
        !written ? "input" : (!isNew && isRead(argument) ? "inout" : "output");
    Attribute layout =
        AffineMapAttr::get(builder.getMultiDimIdentityMap(type.getRank()));
    if (type.getRank() > 1 && !isReshaped(argument) &&
        !(written &&
          mustBePacked(terminator->getOperand(boundResults[argument]),
                       /*isWhole=*/isNew))) {
      SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
      strides.back() = 1;
      layout = StridedLayoutAttr::get(function.getContext(), 0, strides);
    }
    unsigned i = argument.getArgNumber();
    if (written && function.getArgAttr(i, RMSNormDialect::kConstantAttrName))
      return function.emitOpError("expected arguments that are '")
             << RMSNormDialect::kConstantAttrName
             << "' to be only read, but result #" << boundResults[argument]
             << " is computed into argument '" << names[i] << "'";
    auto set = [&](StringRef name, Attribute attr) {
      function.setArgAttr(i, name, attr);
    };
    set(RMSNormDialect::kNameAttrName, builder.getStringAttr(names[i]));
    set(RMSNormDialect::kRoleAttrName, builder.getStringAttr(role));
    set(RMSNormDialect::kDimsAttrName, builder.getDenseI64ArrayAttr(dims));
    set(BufferizationDialect::kBufferLayoutAttrName, layout);
    set(BufferizationDialect::kWritableAttrName, builder.getBoolAttr(written));
  }
  llvm::MapVector<unsigned, SetVector<int64_t>> bounds;
  for (const IndexArgument &index : getIndexArguments(function)) {
    const unsigned number = index.argument.getArgNumber();
    bounds[number].insert(getSize(index.table, index.dim));
    if (index.isDistinct)
      function.setArgAttr(number, RMSNormDialect::kDistinctAttrName,
                          builder.getUnitAttr());
  }
  for (auto &[number, sizes] : bounds)
    function.setArgAttr(number, RMSNormDialect::kBoundsAttrName,
                        builder.getDenseI64ArrayAttr(sizes.getArrayRef()));
  return success();
}

/// A size that is asked for in several ways becomes one value.
void FunctionBinder::replaceDims() {
  llvm::DenseMap<AffineExpr, std::pair<Value, int64_t>> representatives;
  for (BlockArgument argument : function.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        representatives.try_emplace(symbols.getSize(argument, dim), argument,
                                    dim);
  llvm::DenseMap<AffineExpr, Value> sizes;
  SmallVector<tensor::DimOp> dimOps;
  function.walk([&](tensor::DimOp op) { dimOps.push_back(op); });
  for (tensor::DimOp op : dimOps) {
    std::optional<int64_t> index = op.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    if (!index || !type || *index < 0 || *index >= type.getRank())
      continue;
    AffineExpr size = symbols.getSize(op.getSource(), *index);
    auto constant = dyn_cast<AffineConstantExpr>(size);
    auto it = representatives.find(size);
    if (!constant && it == representatives.end())
      continue;
    Value &value = sizes[size];
    builder.setInsertionPointToStart(&function.front());
    if (!value && constant)
      value = arith::ConstantIndexOp::create(builder, op.getLoc(),
                                             constant.getValue());
    else if (!value)
      value = tensor::DimOp::create(builder, op.getLoc(), it->second.first,
                                    it->second.second);
    op.replaceAllUsesWith(value);
    op.erase();
  }
}

LogicalResult FunctionBinder::run() {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a body of one block, got ")
           << function.getBody().getBlocks().size();
  terminator = function.front().getTerminator();
  if (failed(bindScalars(function)))
    return failure();
  for (OpOperand &returned : terminator->getOpOperands())
    copyShared(returned);
  FailureOr<ShapeSymbols> computed = ShapeSymbols::compute(function);
  if (failed(computed))
    return failure();
  symbols = std::move(*computed);
  for (OpOperand &returned : terminator->getOpOperands())
    if (failed(bindResult(returned)))
      return failure();
  FailureOr<SmallVector<std::string>> names = chooseNames();
  const unsigned numGiven = function.getNumArguments() - newNames.size();
  if (failed(names) || failed(setAttributes(*names)) ||
      failed(setSizeConstraints(function, symbols, numGiven)))
    return failure();
  replaceDims();
  // Destinations that no result needs any more.
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(function.front().getOperations())))
    if ((isa<tensor::EmptyOp, tensor::DimOp>(op) || access::getFilled(&op)) &&
        op.use_empty())
      op.erase();
  return success();
}

namespace {
struct BindArguments final : rmsnorm::impl::BindArgumentsBase<BindArguments> {
  using BindArgumentsBase::BindArgumentsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult calls = module.walk([&](CallOpInterface call) {
      auto callee = dyn_cast_or_null<func::FuncOp>(call.resolveCallable());
      if (!callee || !callee.isPublic() || callee.isDeclaration())
        return WalkResult::advance();
      call->emitOpError("expected a public function not to be called in its "
                        "own module, got '")
          << callee.getName() << "'";
      return WalkResult::interrupt();
    });
    if (calls.wasInterrupted())
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isDeclaration() &&
          failed(FunctionBinder(function).run()))
        return signalPassFailure();
  }
};
} // namespace
