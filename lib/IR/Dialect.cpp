// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.cpp - registration and discardable attributes -------------===//

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

#include "RMSNorm/IR/RMSNormDialect.cpp.inc"

void RMSNormDialect::initialize() {
  registerAttributes();
  registerTypes();
  // The serialization library implements it; this library does not know LLVM's
  // code generators.
  declarePromisedInterface<gpu::TargetAttrInterface, TargetAttr>();
  addOperations<
#define GET_OP_LIST
#include "RMSNorm/IR/RMSNormOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "RMSNorm/IR/RMSNormTileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "RMSNorm/IR/RMSNormRowsOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "RMSNorm/IR/RMSNormThreadOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

namespace {
enum class Place { op, argument, result };

/// The holder of an attribute: an op, or an argument or a result of a function.
struct Holder {
  Operation *op;
  Place place;
  unsigned number = 0;

  FunctionOpInterface getFunction() const {
    return cast<FunctionOpInterface>(op);
  }
  /// Of the argument or the result.
  Type getType() const {
    return (place == Place::argument ? getFunction().getArgumentTypes()
                                     : getFunction().getResultTypes())[number];
  }
};

/// The conditions on an attribute of one name at one place.
struct AttributeRule {
  StringLiteral name;
  Place place;
  StringLiteral expected;
  /// The attribute if it is wrong, or the wrong attribute of its holder;
  /// otherwise null.
  Attribute (*findWrong)(const Holder &holder, Attribute value);
};
} // namespace

/// `value` unless it is right, after the op's name unless that is right.
static Attribute check(const Holder &holder, bool isRightOp, Attribute value,
                       bool isRight) {
  if (!isRightOp)
    return holder.op->getName().getIdentifier();
  return isRight ? Attribute() : value;
}

template <typename OpTy, typename AttrTy>
static Attribute checkIs(const Holder &holder, Attribute value) {
  return check(holder, isa<OpTy>(holder.op), value, isa<AttrTy>(value));
}

template <typename OpTy, unsigned bits, int64_t least>
static Attribute checkInteger(const Holder &holder, Attribute value) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return check(holder, isa<OpTy>(holder.op), value,
               integer && integer.getType().isSignlessInteger(bits) &&
                   integer.getInt() >= least);
}

static Attribute checkTarget(const Holder &, Attribute value) {
  return isa<TargetAttr>(value) ? Attribute() : value;
}

static Attribute checkLinalgUnit(const Holder &holder, Attribute value) {
  return check(holder, holder.op->getName().getDialectNamespace() == "linalg",
               value, isa<UnitAttr>(value));
}

static Attribute checkElementwise(const Holder &holder, Attribute value) {
  return check(holder,
               isa<tensor::InsertSliceOp, ScatterOp>(holder.op) ||
                   holder.op->getName().getDialectNamespace() == "linalg",
               value, isa<StringAttr>(value));
}

static Attribute checkSizes(const Holder &holder, Attribute value) {
  auto sizes = dyn_cast<IntegerSetAttr>(value);
  return check(holder, isa<FunctionOpInterface>(holder.op), value,
               sizes && sizes.getValue().getNumDims() == 0);
}

static Attribute checkName(const Holder &, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  return name && !name.empty() ? Attribute() : value;
}

static Attribute checkRole(const Holder &, Attribute value) {
  auto role = dyn_cast<StringAttr>(value);
  const bool isRole =
      role && llvm::is_contained({"input", "output", "inout"}, role.getValue());
  return isRole ? Attribute() : value;
}

static Attribute checkDims(const Holder &holder, Attribute value) {
  auto dims = dyn_cast<DenseI64ArrayAttr>(value);
  if (!dims)
    return value;
  auto type = dyn_cast<ShapedType>(holder.getType());
  if (!type || !type.hasRank() || type.getRank() != dims.size())
    return TypeAttr::get(holder.getType());
  for (auto [size, dim] : llvm::zip(type.getShape(), dims.asArrayRef()))
    if (!ShapedType::isDynamic(size) && size != dim)
      return value;
  return {};
}

/// Of an argument whose elements are indices.
template <typename AttrTy>
static Attribute checkIndices(const Holder &holder, Attribute value) {
  if (!isa<AttrTy>(value))
    return value;
  const bool areIndices =
      getElementTypeOrSelf(holder.getType()).isSignlessInteger();
  return areIndices ? Attribute() : TypeAttr::get(holder.getType());
}

static Attribute checkConstant(const Holder &holder, Attribute value) {
  if (!isa<UnitAttr>(value))
    return value;
  if (!isa<ShapedType>(holder.getType()))
    return TypeAttr::get(holder.getType());
  auto role = holder.getFunction().getArgAttrOfType<StringAttr>(
      holder.number, RMSNormDialect::kRoleAttrName);
  return role && role.getValue() != "input" ? role : Attribute();
}

static Attribute checkArgument(const Holder &holder, Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number || !number.getType().isSignlessInteger(64))
    return value;
  ArrayRef<Type> types = holder.getFunction().getArgumentTypes();
  if (number.getValue().uge(types.size()))
    return value;
  Type type = types[number.getInt()];
  return isa<ShapedType>(type) ? Attribute() : TypeAttr::get(type);
}

static constexpr AttributeRule kAttributeRules[] = {
    {RMSNormDialect::kTargetAttrName, Place::op, "a #rmsnorm.target",
     checkTarget},
    {RMSNormDialect::kRowWiseAttrName, Place::op,
     "a unit attribute of a linalg op", checkLinalgUnit},
    {RMSNormDialect::kElementwiseAttrName, Place::op,
     "the name of an op, of a linalg op, a tensor.insert_slice or an "
     "rmsnorm.scatter",
     checkElementwise},
    {RMSNormDialect::kSizesAttrName, Place::op,
     "an integer set of symbols of a function", checkSizes},
    {RMSNormDialect::kDependentLaunchAttrName, Place::op,
     "a unit attribute of a gpu.launch_func",
     checkIs<gpu::LaunchFuncOp, UnitAttr>},
    {RMSNormDialect::kBlocksPerMultiprocessorAttrName, Place::op,
     "a positive i32 of a gpu.launch_func",
     checkInteger<gpu::LaunchFuncOp, 32, 1>},
    {RMSNormDialect::kMinBlocksAttrName, Place::op,
     "a positive i64 of a function", checkInteger<FunctionOpInterface, 64, 1>},
    {RMSNormDialect::kSimArgumentAttrName, Place::op,
     "an i32 from 0 on of an access to memory",
     checkInteger<MemoryEffectOpInterface, 32, 0>},
    {RMSNormDialect::kNameAttrName, Place::argument, "a non-empty string",
     checkName},
    {RMSNormDialect::kNameAttrName, Place::result, "a non-empty string",
     checkName},
    {RMSNormDialect::kRoleAttrName, Place::argument,
     "\"input\", \"output\" or \"inout\"", checkRole},
    {RMSNormDialect::kDimsAttrName, Place::argument,
     "an array of i64, one for each dimension of a tensor or memref and its "
     "size where that is static",
     checkDims},
    {RMSNormDialect::kBoundsAttrName, Place::argument,
     "an array of i64 of a tensor or memref of integers",
     checkIndices<DenseI64ArrayAttr>},
    {RMSNormDialect::kDistinctAttrName, Place::argument,
     "a unit attribute of a tensor or memref of integers",
     checkIndices<UnitAttr>},
    {RMSNormDialect::kConstantAttrName, Place::argument,
     "a unit attribute of a tensor or memref that is only read", checkConstant},
    {RMSNormDialect::kArgumentAttrName, Place::result,
     "an i64, the number of an argument that is a tensor or memref",
     checkArgument},
};

static LogicalResult verifyAttribute(const Holder &holder,
                                     NamedAttribute attribute) {
  std::string where;
  if (holder.place != Place::op)
    where = (Twine(holder.place == Place::argument ? " of argument #"
                                                   : " of result #") +
             Twine(holder.number))
                .str();
  SmallVector<StringRef> names;
  for (const AttributeRule &rule : kAttributeRules) {
    if (rule.place != holder.place)
      continue;
    names.push_back(rule.name);
    if (rule.name != attribute.getName())
      continue;
    if (Attribute wrong = rule.findWrong(holder, attribute.getValue()))
      return holder.op->emitOpError("expected '")
             << rule.name << "'" << where << " to be " << rule.expected
             << ", got " << wrong;
    return success();
  }
  return holder.op->emitOpError("expected an attribute")
         << where << " to be one of " << llvm::join(names, ", ") << ", got '"
         << attribute.getName().getValue() << "'";
}

Operation *RMSNormDialect::materializeConstant(OpBuilder &builder,
                                               Attribute value, Type type,
                                               Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult
RMSNormDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  return verifyAttribute({op, Place::op}, attribute);
}

LogicalResult RMSNormDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  return verifyAttribute({op, Place::argument, argument}, attribute);
}

LogicalResult RMSNormDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyAttribute({op, Place::result, result}, attribute);
}
