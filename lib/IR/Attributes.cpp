// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attributes.cpp - targets and schedules ----------------------------===//

#include "RMSNorm/IR/KernelTarget.h"
#include "RMSNorm/Target/Instructions.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

#include "RMSNorm/IR/RMSNormEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "RMSNorm/IR/RMSNormAttrs.cpp.inc"

void RMSNormDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "RMSNorm/IR/RMSNormAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Backend backend, StringRef chip) {
  const ChipInfo *info = lookupChip(chip);
  if (!info)
    return emitError() << "expected a chip (" << getChipNames() << "), got '"
                       << chip << "'" << getAdvice(chip);
  if ((backend == Backend::nvvm && info->vendor != Vendor::Nvidia) ||
      (backend == Backend::rocdl && info->vendor != Vendor::Amd))
    return emitError() << "expected a chip that " << stringifyBackend(backend)
                       << " compiles for, got '" << chip << "'";
  return success();
}

TargetAttr TargetAttr::parseSpelling(Location loc, StringRef spelling) {
  StringRef chip = spelling;
  bool sim = chip.consume_front("sim:");
  if (spelling == "sim") {
    sim = true;
    chip = "sim32";
  }
  const ChipInfo *info = lookupChip(chip);
  if (info && !sim && info->vendor == Vendor::Generic) {
    emitError(loc) << "expected target 'sim:" << chip << "', got '" << spelling
                   << "': only the simulator has that chip";
    return {};
  }
  if (!info) {
    emitError(loc) << "expected a target: a chip (" << getChipNames()
                   << "), 'sim', or 'sim:' and a chip, got "
                   << (spelling.empty() ? "none (option target)"
                                        : "'" + spelling.str() + "'")
                   << getAdvice(spelling);
    return {};
  }
  Backend backend = sim                              ? Backend::sim
                    : info->vendor == Vendor::Nvidia ? Backend::nvvm
                                                     : Backend::rocdl;
  return TargetAttr::get(loc.getContext(), backend, chip);
}

std::string TargetAttr::getSpelling() const {
  return (getBackend() == Backend::sim ? "sim:" : "") + getChip().str();
}

const ChipInfo &TargetAttr::getChipInfo() const {
  return *lookupChip(getChip());
}

TargetAttr mlir::rmsnorm::getKernelTarget(Operation *op) {
  if (auto module = dyn_cast<gpu::GPUModuleOp>(op);
      module && module.getTargetsAttr())
    for (Attribute target : module.getTargetsAttr())
      if (isa<TargetAttr>(target))
        return cast<TargetAttr>(target);
  return {};
}

TargetAttr TargetAttr::lookup(Operation *op) {
  for (; op; op = op->getParentOp()) {
    if (TargetAttr target = getKernelTarget(op))
      return target;
    if (auto target =
            op->getAttrOfType<TargetAttr>(RMSNormDialect::kTargetAttrName))
      return target;
  }
  return {};
}

FailureOr<TargetAttr> mlir::rmsnorm::getTarget(Operation *op) {
  if (TargetAttr target = TargetAttr::lookup(op))
    return target;
  InFlightDiagnostic error = op->emitOpError("expected a module with a '")
                             << RMSNormDialect::kTargetAttrName
                             << "' attribute";
  error.attachNote() << "rmsnorm-attach-target sets it";
  return error;
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ScheduleFields fields) {
  if (std::optional<Refusal> refusal = fields.check())
    return emitError() << refusal->getMessage();
  return success();
}

/// Collects "field=value,field=value" for ScheduleFields::parse.
static ParseResult collectItems(AsmParser &parser, raw_ostream &os,
                                bool isNested = false) {
  llvm::ListSeparator separator(",");
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    os << separator << key << '=';
    if (!isNested && succeeded(parser.parseOptionalLess())) {
      os << '<';
      if (collectItems(parser, os, /*isNested=*/true) || parser.parseGreater())
        return failure();
      os << '>';
      return success();
    }
    // First: as integers, true and false would be numbers.
    StringRef keyword;
    APInt integer;
    if (failed(parser.parseOptionalKeyword(&keyword))) {
      OptionalParseResult result = parser.parseOptionalInteger(integer);
      if (!result.has_value())
        return parser.emitError(parser.getCurrentLocation(),
                                "expected a value of '")
               << key << "'";
      if (failed(*result))
        return failure();
      integer.print(os, /*isSigned=*/true);
    }
    os << keyword;
    return success();
  });
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (parser.parseLess() || collectItems(parser, os) || parser.parseGreater())
    return {};
  llvm::Expected<ScheduleFields> fields = ScheduleFields::parse(text);
  if (!fields) {
    parser.emitError(loc, llvm::toString(fields.takeError()));
    return {};
  }
  return parser.getChecked<ScheduleAttr>(loc, parser.getContext(), *fields);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << '<';
  getFields().print(printer.getStream());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// ExchangeAttr
//===----------------------------------------------------------------------===//

LogicalResult ExchangeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t slots, int64_t values,
                                   int64_t subgroups, int64_t cluster,
                                   int64_t offset) {
  auto powerOfTwo = [&](StringRef field, int64_t value, int64_t minimum,
                        int64_t maximum) -> LogicalResult {
    if (value >= minimum && value <= maximum && llvm::isPowerOf2_64(value))
      return success();
    return emitError() << "expected " << field << " to be a power of two from "
                       << minimum << " to " << maximum << ", got " << value;
  };
  auto inRange = [&](StringRef field, int64_t value,
                     int64_t maximum) -> LogicalResult {
    if (value >= 1 && value <= maximum)
      return success();
    return emitError() << "expected " << field << " from 1 to " << maximum
                       << ", got " << value;
  };
  if (offset < 0 || offset % 16 != 0)
    return emitError() << "expected offset to be a multiple of 16, got "
                       << offset;
  return success(succeeded(powerOfTwo("slots", slots, 4, 32)) &&
                 succeeded(inRange("values", values, 64)) &&
                 succeeded(inRange("subgroups", subgroups, 32)) &&
                 succeeded(powerOfTwo("cluster", cluster, 2, 16)));
}
