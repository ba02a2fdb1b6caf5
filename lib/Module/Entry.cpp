// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Entry.cpp - an entry and its arguments ----------------------------===//

#include "Entry.h"
#include "Limits.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Module/VectorArguments.h"
#include "SizeRules.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

int64_t rmsnorm::getElementBytes(func::FuncOp function, unsigned argument) {
  auto type = cast<MemRefType>(function.getArgumentTypes()[argument]);
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

static std::optional<rmsn::DataType> getDataType(Type type) {
  if (type.isF16())
    return rmsn::DataType::F16;
  if (type.isBF16())
    return rmsn::DataType::BF16;
  if (type.isF32())
    return rmsn::DataType::F32;
  if (type.isF64())
    return rmsn::DataType::F64;
  if (isa<Float8E4M3FNType>(type))
    return rmsn::DataType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return rmsn::DataType::F8E5M2;
  if (isa<Float8E4M3FNUZType>(type))
    return rmsn::DataType::F8E4M3FNUZ;
  if (isa<Float8E8M0FNUType>(type))
    return rmsn::DataType::F8E8M0FNU;
  if (isa<Float4E2M1FNType>(type))
    return rmsn::DataType::F4E2M1FN;
  if (type.isInteger(1))
    return rmsn::DataType::Bool;
  if (type.isUnsignedInteger(8))
    return rmsn::DataType::U8;
  if (type.isSignlessInteger(8) || type.isSignedInteger(8))
    return rmsn::DataType::I8;
  if (type.isSignlessInteger(16) || type.isSignedInteger(16))
    return rmsn::DataType::I16;
  if (type.isSignlessInteger(32) || type.isSignedInteger(32))
    return rmsn::DataType::I32;
  if (type.isSignlessInteger(64) || type.isSignedInteger(64))
    return rmsn::DataType::I64;
  return std::nullopt;
}

static std::optional<rmsn::Role> parseRole(StringRef name) {
  if (name == "input")
    return rmsn::Role::Input;
  if (name == "output")
    return rmsn::Role::Output;
  if (name == "inout")
    return rmsn::Role::InOut;
  return std::nullopt;
}

/// Fills in the conditions that the layout of a memref puts on a tensor.
static LogicalResult setLayout(MemRefType type, rmsn::ArgumentT &argument) {
  if (type.getLayout().isIdentity()) {
    argument.dense = type.getRank() > 1;
    return success();
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return failure();
  if (strides.empty())
    return success();
  argument.inner_contiguous = strides.back() == 1;
  // A module can ask for any strides or for packed ones, not for given ones.
  bool outerDynamic =
      llvm::all_of(ArrayRef(strides).drop_back(), ShapedType::isDynamic);
  bool innerKnown =
      strides.back() == 1 || ShapedType::isDynamic(strides.back());
  return success(outerDynamic && innerKnown);
}

/// That the runtime takes a name. `report` begins an error.
static LogicalResult checkName(function_ref<InFlightDiagnostic()> report,
                               StringRef what, StringRef name) {
  if (name.empty() || name.size() > rmsn::kMaxNameBytes)
    return report() << "expected a " << what << " of 1.." << rmsn::kMaxNameBytes
                    << " bytes, got " << name.size();
  for (char c : name)
    if (!rmsn::isPrintable(c))
      return report() << "expected a printable " << what << ", got byte 0x"
                      << llvm::utohexstr(uint8_t(c), /*LowerCase=*/true,
                                         /*Width=*/2);
  return success();
}

static FailureOr<rmsn::ArgumentT> readArgument(func::FuncOp function,
                                               unsigned index) {
  rmsn::ArgumentT argument;
  auto report = [&]() {
    return function.emitError("argument ") << index << ": ";
  };
  auto type = dyn_cast<MemRefType>(function.getArgumentTypes()[index]);
  if (!type)
    return report() << "expected a tensor or memref, got "
                    << function.getArgumentTypes()[index];
  std::optional<rmsn::DataType> dtype = getDataType(type.getElementType());
  if (!dtype)
    return report() << "a module has no data type for "
                    << type.getElementType();
  argument.dtype = *dtype;

  auto name = function.getArgAttrOfType<StringAttr>(
      index, RMSNormDialect::kNameAttrName);
  argument.name = name ? name.str() : "arg" + std::to_string(index);
  if (failed(checkName(report, "name", argument.name)))
    return failure();
  auto role = function.getArgAttrOfType<StringAttr>(
      index, RMSNormDialect::kRoleAttrName);
  std::optional<rmsn::Role> known =
      role ? parseRole(role) : std::optional<rmsn::Role>();
  if (!known)
    return report() << "expected rmsnorm.role = \"input\", \"output\" or "
                       "\"inout\" (rmsnorm-bind-arguments sets it), got "
                    << (role ? Attribute(role)
                             : Attribute(UnitAttr::get(function.getContext())));
  argument.role = *known;

  auto dims = function.getArgAttrOfType<DenseI64ArrayAttr>(
      index, RMSNormDialect::kDimsAttrName);
  if (!dims || dims.size() != type.getRank())
    return report() << "expected rmsnorm.dims with " << type.getRank()
                    << " sizes (rmsnorm-bind-arguments sets it)";
  argument.dims.assign(dims.asArrayRef().begin(), dims.asArrayRef().end());
  if (dims.size() > rmsn::kMaxRank)
    return report() << "expected rank <= " << rmsn::kMaxRank << ", got "
                    << dims.size();
  for (int64_t dim : argument.dims)
    if (dim < -int64_t(rmsn::kMaxSymbols))
      return report() << "expected at most " << rmsn::kMaxSymbols
                      << " different run-time sizes in an entry, got more";
  if (auto bounds = function.getArgAttrOfType<DenseI64ArrayAttr>(
          index, RMSNormDialect::kBoundsAttrName))
    argument.bounds.assign(bounds.asArrayRef().begin(),
                           bounds.asArrayRef().end());
  argument.distinct =
      bool(function.getArgAttr(index, RMSNormDialect::kDistinctAttrName));
  if (failed(setLayout(type, argument)))
    return report() << "expected a packed layout or run-time strides, got "
                    << type;
  argument.constant =
      bool(function.getArgAttr(index, RMSNormDialect::kConstantAttrName));
  return argument;
}

FailureOr<rmsn::EntryT> rmsnorm::readEntry(func::FuncOp function,
                                           StringRef name) {
  auto report = [&] { return function.emitError(); };
  if (failed(checkName(report, "name of an entry", name)))
    return failure();
  const unsigned count = function.getNumArguments();
  if (count == 0 || count > rmsn::kMaxArguments)
    return function.emitError("expected 1..")
           << rmsn::kMaxArguments << " arguments, results among them, got "
           << count;
  rmsn::EntryT entry;
  entry.name = name.str();
  for (unsigned i = 0; i < count; ++i) {
    FailureOr<rmsn::ArgumentT> argument = readArgument(function, i);
    if (failed(argument))
      return failure();
    for (const auto &other : entry.arguments)
      if (other->name == argument->name)
        return function.emitError("argument ")
               << i << ": expected a name of its own, got '" << other->name
               << "' again";
    entry.arguments.push_back(
        std::make_unique<rmsn::ArgumentT>(std::move(*argument)));
  }
  for (unsigned i : getVectorArguments(function)) {
    rmsn::ArgumentT &argument = *entry.arguments[i];
    if (argument.dims.empty() || argument.dims.back() >= 0)
      continue;
    argument.nonempty_rows = true;
    // Threads count columns, and bytes in a row, in 32 bits.
    argument.max_columns = std::min(
        kDynamicColumns, (int64_t(1) << 32) / getElementBytes(function, i));
  }
  if (failed(readSizeRules(function, entry)))
    return failure();
  return entry;
}
