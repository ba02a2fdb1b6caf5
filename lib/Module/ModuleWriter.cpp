// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleWriter.cpp - from compiled functions to a .rmsn module ------===//

#include "RMSNorm/Module/ModuleWriter.h"
#include "ModuleData.h"
#include "RMSNorm/Module/ErrorBounds.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::rmsnorm;

struct ModuleWriter::State {
  std::vector<EntryData> entries;
  std::vector<ImageData> images;

  EntryData *find(StringRef name) {
    for (EntryData &entry : entries)
      if (entry.name == name)
        return &entry;
    return nullptr;
  }
};

ModuleWriter::ModuleWriter() : state(std::make_unique<State>()) {}
ModuleWriter::~ModuleWriter() = default;

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

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

static std::optional<rmsn::Role> getRole(StringRef name) {
  if (name == "input")
    return rmsn::Role::Input;
  if (name == "output")
    return rmsn::Role::Output;
  if (name == "inout")
    return rmsn::Role::InOut;
  return std::nullopt;
}

/// Fills in what the layout of a memref demands of a tensor.
static LogicalResult setLayout(MemRefType type, ArgumentData &argument) {
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
  argument.innerContiguous = strides.back() == 1;
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

static FailureOr<ArgumentData> readArgument(func::FuncOp function,
                                            unsigned index) {
  ArgumentData argument;
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

  auto name = function.getArgAttrOfType<StringAttr>(index, "rmsnorm.name");
  argument.name = name ? name.str() : "arg" + std::to_string(index);
  if (failed(checkName(report, "name", argument.name)))
    return failure();
  auto role = function.getArgAttrOfType<StringAttr>(index, "rmsnorm.role");
  std::optional<rmsn::Role> known =
      role ? getRole(role) : std::optional<rmsn::Role>();
  if (!known)
    return report() << "expected rmsnorm.role = \"input\", \"output\" or "
                       "\"inout\" (rmsnorm-bind-arguments sets it), got "
                    << (role ? Attribute(role)
                             : Attribute(UnitAttr::get(function.getContext())));
  argument.role = *known;

  auto dims =
      function.getArgAttrOfType<DenseI64ArrayAttr>(index, "rmsnorm.dims");
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
  if (failed(setLayout(type, argument)))
    return report() << "expected a packed layout or run-time strides, got "
                    << type;
  argument.constant =
      bool(function.getArgAttr(index, RMSNormDialect::kConstantAttrName));
  return argument;
}

LogicalResult ModuleWriter::addEntry(func::FuncOp function, StringRef name) {
  if (name.empty())
    name = function.getName();
  if (state->find(name))
    return function.emitError("expected entries of different names, got two "
                              "named '")
           << name << "'";
  auto report = [&] { return function.emitError(); };
  if (failed(checkName(report, "name of an entry", name)))
    return failure();
  const unsigned count = function.getNumArguments();
  if (count == 0 || count > rmsn::kMaxArguments)
    return function.emitError("expected 1..")
           << rmsn::kMaxArguments << " arguments, results among them, got "
           << count;
  EntryData entry;
  entry.name = name.str();
  for (unsigned i = 0; i < count; ++i) {
    FailureOr<ArgumentData> argument = readArgument(function, i);
    if (failed(argument))
      return failure();
    for (const ArgumentData &other : entry.arguments)
      if (other.name == argument->name)
        return function.emitError("argument ")
               << i << ": expected a name of its own, got '" << other.name
               << "' again";
    entry.arguments.push_back(std::move(*argument));
    entry.elementBytes.push_back(
        cast<MemRefType>(function.getArgumentTypes()[i])
            .getElementTypeBitWidth() /
        8);
  }
  for (unsigned i : getVectorArguments(function)) {
    ArgumentData &argument = entry.arguments[i];
    if (argument.dims.empty() || argument.dims.back() >= 0)
      continue;
    argument.nonemptyRows = true;
    // Threads count columns, and bytes in a row, in 32 bits.
    argument.maxColumns =
        std::min(kDynamicColumns, (int64_t(1) << 32) / entry.elementBytes[i]);
  }
  state->entries.push_back(std::move(entry));
  return success();
}

void ModuleWriter::setErrorBound(StringRef entry, unsigned argument,
                                 OutputErrorBound bound) {
  state->find(entry)->arguments[argument].bound = std::move(bound);
}

//===----------------------------------------------------------------------===//
// Images and variants
//===----------------------------------------------------------------------===//

unsigned ModuleWriter::addImage(TargetAttr target,
                                SmallVector<ModuleBinary> binaries) {
  ImageData image;
  llvm::Triple host(llvm::sys::getProcessTriple());
  // What serializeHost compiles for.
  std::string hostISA = host.isX86() ? "x86-64-v3" : host.getArchName().str();
  if (!target) {
    image.target = image.chip = "oracle";
    image.backend = rmsn::Backend::Oracle;
    image.hostISA = hostISA;
  } else {
    image.target = target.getSpelling();
    image.chip = target.getChip().str();
    switch (target.getBackend()) {
    case Backend::nvvm:
      image.backend = rmsn::Backend::Cuda;
      break;
    case Backend::rocdl:
      image.backend = rmsn::Backend::Hip;
      break;
    case Backend::sim:
      image.backend = rmsn::Backend::Sim;
      image.hostISA = hostISA;
      break;
    }
  }
  image.binaries = std::move(binaries);
  state->images.push_back(std::move(image));
  return state->images.size() - 1;
}

/// The guards that make an argument's rows lie at multiples of `bytes`.
static void addGuards(const EntryData &entry, AlignmentGuard guard,
                      std::vector<GuardData> &guards) {
  unsigned index = guard.argument;
  int64_t elements = guard.bytes / entry.elementBytes[index];
  if (elements <= 1)
    return;
  GuardData address{rmsn::GuardKind::PointerAligned, index, {}, guard.bytes};
  guards.push_back(address);
  ArrayRef<int64_t> dims = entry.arguments[index].dims;
  for (unsigned d = 0; d + 1 < dims.size(); ++d) {
    if (dims[d] >= 0 && dims[d] <= 1)
      continue;
    // The stride of a dimension of size 1 says nothing: frameworks leave any
    // number there. Hence min(size - 1, 1) * stride.
    Expression stride = strideExpression(index, d);
    if (dims[d] < 0) {
      Expression more =
          binaryExpression(rmsn::ExpressionOpcode::Sub,
                           sizeExpression(index, d), constantExpression(1));
      more = binaryExpression(rmsn::ExpressionOpcode::Min, more,
                              constantExpression(1));
      stride = binaryExpression(rmsn::ExpressionOpcode::Mul, more, stride);
    }
    guards.push_back(
        {rmsn::GuardKind::MultipleOf, index, std::move(stride), elements});
  }
  if (!dims.empty() && dims.back() < 0)
    guards.push_back({rmsn::GuardKind::MultipleOf, index,
                      sizeExpression(index, dims.size() - 1), elements});
}

LogicalResult
ModuleWriter::addVariant(func::FuncOp host, VariantOptions options,
                         function_ref<unsigned(StringRef)> imageOf,
                         StringRef entryName) {
  if (entryName.empty())
    entryName = host.getName();
  EntryData *entry = state->find(entryName);
  if (!entry)
    return host.emitError("expected an entry named '")
           << entryName << "' in the module";
  TargetAttr target = TargetAttr::lookup(host);
  if (!target)
    return host.emitError("expected a module with rmsnorm.target "
                          "(rmsnorm-attach-target sets it)");
  FailureOr<HostProgram> program = readHostFunction(host);
  if (failed(program))
    return failure();
  VariantData variant;
  variant.name = std::move(options.name);
  variant.schedule = std::move(options.schedule);
  variant.tuningKey = std::move(options.tuningKey);
  variant.subgroupSize = target.getChipInfo().subgroupSize;
  for (AlignmentGuard guard : options.guards)
    addGuards(*entry, guard, variant.guards);
  for (const RangeGuard &range : options.ranges) {
    FailureOr<Expression> expression =
        IndexExpressions(host).evaluate(range.value);
    if (failed(expression))
      return failure();
    variant.guards.push_back({rmsn::GuardKind::InRange, 0,
                              std::move(*expression), /*multiple=*/1,
                              range.lower, range.upper});
  }
  ProgramData &programOfTarget = entry->getProgram(target.getSpelling());
  auto checkCount = [&](size_t count, unsigned limit, StringRef what) {
    if (count <= limit)
      return success();
    return LogicalResult(host.emitError("expected at most ")
                         << limit << " " << what << ", got " << count);
  };
  if (failed(checkCount(variant.guards.size(), rmsn::kMaxGuards,
                        "guards of a variant")) ||
      failed(checkCount(program->launches.size(), rmsn::kMaxLaunches,
                        "kernels for an entry")) ||
      failed(checkCount(programOfTarget.variants.size() + 1, rmsn::kMaxVariants,
                        "variants of an entry")) ||
      failed(checkCount(
          std::max(variant.schedule.size(), variant.tuningKey.size()),
          rmsn::kMaxProseBytes, "bytes of schedules as text")))
    return failure();
  for (const HostLaunch &launch : program->launches)
    variant.images.push_back(imageOf(launch.module));
  variant.launches = std::move(program->launches);
  variant.workspace = std::move(program->workspace);
  programOfTarget.variants.push_back(std::move(variant));
  return success();
}

void ModuleWriter::addLastVariantOf(StringRef other, StringRef entry,
                                    TargetAttr target) {
  std::string spelling = target.getSpelling();
  VariantData last = state->find(other)->getProgram(spelling).variants.back();
  state->find(entry)->getProgram(spelling).variants.push_back(std::move(last));
}

void ModuleWriter::addHostProgram(StringRef entryName, StringRef target,
                                  StringRef variantName, unsigned image,
                                  StringRef symbol) {
  HostLaunch launch;
  launch.kernel = symbol.str();
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = constantExpression(1);
    launch.block[i] = 1;
  }
  VariantData variant;
  variant.name = variantName.str();
  variant.launches.push_back(std::move(launch));
  variant.images.push_back(image);
  state->find(entryName)->getProgram(target).variants.push_back(
      std::move(variant));
}

void ModuleWriter::addOracle(StringRef entry, unsigned image,
                             StringRef symbol) {
  addHostProgram(entry, "oracle", "definition", image, symbol);
}

void ModuleWriter::addMagnitudes(StringRef entry, unsigned image,
                                 StringRef symbol) {
  addHostProgram(entry, "magnitudes", "magnitudes", image, symbol);
}

std::string ModuleWriter::finish() {
  return writeModule(state->entries, state->images);
}
