// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramReads.cpp - what a program reads ----------------------------===//

#include "ProgramBuilder.h"

#include "RMSNorm/Rows/RowsProgram.h"
#include "RMSNorm/Source/Destinations.h"
#include "TileProgram.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using namespace mlir::rmsnorm::program;
using linalg::LinalgOp;

const Access *ProgramBuilder::findAccess(OpOperand &operand) {
  const OpOperand *read =
      frame->norm ? frame->norm->findOperand(operand.get()) : &operand;
  for (const Access &access : cluster.getAccesses())
    if (access.member == frame->member && access.parent == frame->computed &&
        access.operand == read && access.isRead())
      return &access;
  return nullptr;
}

bool ProgramBuilder::isPerColumn(OpOperand &operand) {
  const Access *access = findAccess(operand);
  if (!access || access->kind != Access::Kind::load)
    return false;
  return !getColumnLeaves(access->layout).empty() &&
         llvm::none_of(access->layout, [&](const Sum &sum) {
           return digits.hasRows(digits.resolve(sum));
         });
}

FailureOr<Value> ProgramBuilder::getConstant(Value value,
                                             ArrayRef<int64_t> shape) {
  const VectorType type =
      getVectorType(shape, getElementTypeOrSelf(value.getType()));
  Location loc = value.getLoc();
  Attribute attribute;
  DenseElementsAttr splat;
  Value scalar;
  if (matchPattern(value, m_Constant(&splat)) && splat.isSplat())
    attribute = splat.getSplatValue<Attribute>();
  else if (!(scalar = access::getFilled(value.getDefiningOp())))
    return fail("reads a tensor without contents");
  if (attribute || matchPattern(scalar, m_Constant(&attribute)))
    return Value(arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, attribute)));
  return Value(vector::BroadcastOp::create(builder, loc, type, scalar));
}

/// What another member computes in the same row.
FailureOr<Value> ProgramBuilder::getMember(const Access &access, Location loc,
                                           ArrayRef<unsigned> leaves) {
  Value vector = vectors.lookup(access.value);
  if (!vector)
    return fail("uses what is computed later");
  switch (cluster.getRelation(access)) {
  case Relation::onePerRow:
    return vector;
  case Relation::groups:
  case Relation::sameColumns: {
    FailureOr<SmallVector<int64_t>> shape = getShape(leaves);
    if (failed(shape))
      return failure();
    if (getColumnShape(cast<VectorType>(vector.getType())) != ArrayRef(*shape))
      return fail("uses other columns");
    return vector;
  }
  case Relation::part:
    return takePart(loc, vector, access.layout,
                    *cluster.findLayout(access.value), leaves);
  }
  llvm_unreachable("expected a relation");
}

/// The columns `leaves` of `vector`, which has the layout `whole`, at `index`.
FailureOr<Value> ProgramBuilder::takePart(Location loc, Value vector,
                                          const Layout &index,
                                          const Layout &whole,
                                          ArrayRef<unsigned> leaves) {
  std::optional<int64_t> offset = getOffset(index, whole);
  if (!offset || columns == kDynamicColumns)
    return fail("uses a part of a row" + describeMap("columns in their order",
                                                     index, leaves,
                                                     /*numIndices=*/0));
  FailureOr<SmallVector<int64_t>> shape = getShape(leaves);
  if (failed(shape))
    return failure();
  // No thread but one has a single column.
  if (leaves.empty())
    return fail("uses one column of a row");
  auto type = cast<VectorType>(vector.getType());
  FailureOr<SmallVector<int64_t>> at =
      getPartAt(*offset, *shape, getColumnShape(type));
  if (failed(at))
    return failure();
  const VectorType part = getVectorType(*shape, type.getElementType());
  if (part == type)
    return vector;
  if (hasPairs && shape->back() == 1 && getColumnShape(type).back() == 2 &&
      isa<Float4E2M1FNType>(type.getElementType()))
    return fail("takes pairs of f4E2M1FN apart, of which two are a byte");
  return Value(TakeOp::create(builder, loc, part, vector, *at));
}

/// The vector of what a member computes, or of a view of all of it.
Value ProgramBuilder::findVector(Value value) const {
  while (true) {
    if (Value vector = vectors.lookup(value))
      return vector;
    Operation *op = value.getDefiningOp();
    if (!op || !isView(op) || isa<tensor::ExtractSliceOp>(op))
      return {};
    value = op->getOperand(0);
  }
}

/// The first access that reads what `op` puts together; null if none does.
const Access *ProgramBuilder::findRow(tensor::InsertSliceOp op) const {
  for (const Access &access : cluster.getAccesses())
    if (access.kind == Access::Kind::assembled &&
        access.value == op.getResult())
      return &access;
  return nullptr;
}

/// Puts columns into a row, which is not loaded if none of it stays. `access`,
/// if there is one, reads it, of the cluster or of its own.
FailureOr<Value> ProgramBuilder::assemble(tensor::InsertSliceOp op,
                                          const Access *access) {
  const Layout *ofCluster = cluster.findLayout(op.getResult());
  const Layout &whole = ofCluster ? *ofCluster : access->loops;
  Frame where;
  if (access) {
    where.member = access->member;
    where.computed = getNumber(*access);
  }
  auto findRead = [&](OpOperand &operand) {
    frame = &where;
    const Access *read = access ? findAccess(operand) : nullptr;
    frame = nullptr;
    return read;
  };
  auto get = [&](const Access &read) {
    where.loops = read.whole;
    frame = &where;
    FailureOr<Value> vector =
        getRead(read, op.getLoc(), getColumnLeaves(read.whole));
    frame = nullptr;
    return vector;
  };
  const Access *source = findRead(op.getSourceMutable());
  const Layout *own = cluster.findLayout(op.getSource());
  if (source)
    own = &source->whole;
  FailureOr<Value> part = failure();
  if (source && (!ofCluster || source->kind != Access::Kind::member))
    part = get(*source);
  else
    part = getVectorOfView(op.getSource());
  std::optional<Layout> index =
      own ? writeThrough(op, digits.resolve(*own)) : std::nullopt;
  if (failed(part) || !index)
    return fail("puts together what is not computed");
  std::optional<int64_t> offset = getOffset(*index, whole);
  const SmallVector<unsigned> all = getColumnLeaves(whole);
  const SmallVector<unsigned> some = getColumnLeaves(*own);
  if (countElements(all) == kDynamicColumns)
    return fail("puts rows together of which only a call knows the columns");
  if (!offset)
    return fail("puts rows together in an order of their own" +
                describeMap("columns in steps of one number", *index, some,
                            /*numIndices=*/0));
  if (isPartial(all) || isPartial(some))
    return fail("puts columns together that are divided by what does not "
                "divide their number");
  FailureOr<SmallVector<int64_t>> shape = getShape(all),
                                  partShape = getShape(some);
  if (failed(shape) || failed(partShape))
    return failure();
  if (getColumnShape(cast<VectorType>(part->getType())) != ArrayRef(*partShape))
    return fail("puts together what is one value of several columns");
  FailureOr<SmallVector<int64_t>> at = getPartAt(*offset, *partShape, *shape);
  if (failed(at))
    return failure();
  Value row = ofCluster ? vectors.lookup(op.getDest()) : Value();
  const Access *before = findRead(op.getDestMutable());
  if (!row && !isInitRead(op.getDestMutable())) {
    // Nobody looks at what is not put into it: it is a constant of one value
    // with a constant that is.
    Type element = op.getType().getElementType();
    DenseElementsAttr constant;
    Attribute value =
        matchPattern(*part, m_Constant(&constant)) && constant.isSplat()
            ? constant.getSplatValue<Attribute>()
            : builder.getZeroAttr(element);
    row = arith::ConstantOp::create(
        builder, op.getLoc(),
        DenseElementsAttr::get(getVectorType(*shape, element), value));
  } else if (!row && before && before->kind != Access::Kind::load &&
             !op.getDest().getDefiningOp<tensor::EmptyOp>()) {
    FailureOr<Value> vector = get(*before);
    if (failed(vector))
      return failure();
    row = *vector;
  } else if (!row) {
    if (dependsOnMembers(op.getDest()))
      return fail(
          "puts parts into what an op outside computes from the cluster");
    if (access::getFilled(op.getDest().getDefiningOp())) {
      FailureOr<Value> constant = getConstant(op.getDest(), *shape);
      if (failed(constant))
        return failure();
      row = *constant;
    }
  }
  if (!row) {
    std::optional<Place> place =
        getPlace(op.getDest(), whole, all, /*numIndices=*/0);
    if (!place || op.getDest().getDefiningOp<tensor::EmptyOp>())
      return fail("puts parts into what is not known");
    if (std::string reason =
            whyNotInMemory(*place, op.getDest(), /*isLoad=*/true);
        !reason.empty())
      return fail("puts parts into " + reason);
    row = createLoad(op.getDest(), *place, /*indices=*/{});
  }
  if (part->getType() == row.getType())
    return *part;
  if (hasPairs && partShape->back() == 1 && shape->back() == 2 &&
      isa<Float4E2M1FNType>(getElementTypeOrSelf(row)))
    return fail("puts pairs of f4E2M1FN together, of which two are a byte");
  return Value(PutOp::create(builder, op.getLoc(), *part, row, *at));
}

/// The vector of `value`, a view of what members compute.
FailureOr<Value> ProgramBuilder::getVectorOfView(Value value) {
  if (Value vector = findVector(value))
    return vector;
  const Layout *own = cluster.findLayout(value);
  if (!own)
    return fail("uses a view of what is not known");
  Layout index = digits.resolve(*own);
  Digits scratch = digits;
  Value root = value;
  while (!vectors.contains(root)) {
    Operation *op = root.getDefiningOp();
    std::optional<Layout> next =
        op && isView(op) ? readThrough(scratch, op, index) : std::nullopt;
    if (!next || scratch.size() != digits.size())
      return fail("uses a view of what is not known");
    index = std::move(*next);
    root = op->getOperand(0);
  }
  return takePart(value.getLoc(), vectors.lookup(root), index,
                  *cluster.findLayout(root), getColumnLeaves(*own));
}

FailureOr<Value> ProgramBuilder::load(const Access &access,
                                      ValueRange indices) {
  std::string why;
  std::optional<Place> place =
      getPlace(access.value, access.layout, getColumnLeaves(frame->loops),
               indices.size(), &why);
  if (!place)
    return fail("reads " + why);
  if (auto empty = access.value.getDefiningOp<tensor::EmptyOp>())
    return fail("reads a tensor without contents");
  if (std::string reason =
          whyNotInMemory(*place, access.value, /*isLoad=*/true);
      !reason.empty())
    return fail("reads " + reason);
  return createLoad(access.value, *place, indices);
}

Value ProgramBuilder::createLoad(Value tensor, const Place &place,
                                 ValueRange indices) {
  const VectorType type =
      getVectorType(place.shape, getElementTypeOrSelf(tensor.getType()));
  auto load = TileLoadOp::create(builder, current->getLoc(), type, place.kind,
                                 getBuffer(tensor),
                                 place.hasRow ? Value(tile) : Value(), indices,
                                 /*map=*/AffineMapAttr());
  setAccess(load, place.map);
  return load;
}

/// What an access reads for the op of the frame: the columns `leaves`.
FailureOr<Value> ProgramBuilder::getRead(const Access &access, Location loc,
                                         ArrayRef<unsigned> leaves) {
  switch (access.kind) {
  case Access::Kind::constant: {
    FailureOr<SmallVector<int64_t>> shape = getShape(leaves);
    if (failed(shape))
      return failure();
    return getConstant(access.value, *shape);
  }
  case Access::Kind::load:
    return load(access);
  case Access::Kind::member:
    return getMember(access, loc, leaves);
  case Access::Kind::computed:
    if (Value vector = computed.lookup(getNumber(access)))
      return vector;
    return fail("uses what is computed where it is used");
  case Access::Kind::assembled: {
    Value vector = computed.lookup(getNumber(access));
    if (!vector)
      vector = vectors.lookup(access.value);
    if (vector)
      return takePart(loc, vector, access.layout, access.loops, leaves);
    return fail("uses rows that are put together");
  }
  default:
    return fail("reads what is not known");
  }
}

FailureOr<Value> ProgramBuilder::getVector(OpOperand &operand) {
  auto op = cast<LinalgOp>(operand.getOwner());
  // The summand of one row: RowSum says what is added to.
  if (op.isDpsInit(&operand) && sumsRows(op)) {
    FailureOr<SmallVector<int64_t>> shape = getShape(operand);
    if (failed(shape))
      return failure();
    FloatType f32 = builder.getF32Type();
    ReduceKind kind = *getReduceKind(getCombiner(op, operand));
    auto identity =
        FloatAttr::get(f32, getIdentity(kind, f32.getFloatSemantics()));
    return Value(arith::ConstantOp::create(
        builder, op.getLoc(),
        DenseElementsAttr::get(getVectorType(*shape, f32),
                               Attribute(identity))));
  }
  const Access *access = findAccess(operand);
  if (!access && frame->norm) {
    if (Value vector = vectors.lookup(operand.get()))
      return vector;
    FailureOr<SmallVector<int64_t>> shape = getShape(operand);
    if (failed(shape))
      return failure();
    return getConstant(operand.get(), *shape);
  }
  if (!access)
    return fail("reads what is not known");
  return getRead(*access, op.getLoc(),
                 getColumnLeaves(getOperandLayout(operand)));
}

/// Whether `payload` counts loops for what reads tables.
bool ProgramBuilder::isIndexing(Operation &payload) {
  if (isa<linalg::IndexOp>(payload))
    return true;
  return isa<arith::AddIOp, affine::AffineApplyOp>(payload) &&
         llvm::any_of(payload.getOperands(), [&](Value operand) {
           Operation *definition = operand.getDefiningOp();
           return definition && definition->getBlock() == payload.getBlock() &&
                  isIndexing(*definition);
         });
}

FailureOr<Value>
ProgramBuilder::gather(tensor::ExtractOp extract,
                       function_ref<FailureOr<Value>(Value)> getIndex) {
  for (const Access &access : cluster.getAccesses()) {
    if (access.member != frame->member || access.parent != frame->computed ||
        access.extract != extract)
      continue;
    SmallVector<Value> indices;
    for (Value own : access.indices) {
      FailureOr<Value> index = getIndex(own);
      if (failed(index))
        return failure();
      if (rmsnorm::isPerColumn(index->getType()))
        return fail("gathers by an index for each column");
      indices.push_back(*index);
    }
    return load(access, indices);
  }
  return fail("gathers what is not known");
}
