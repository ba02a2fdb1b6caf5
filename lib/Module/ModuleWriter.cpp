// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleWriter.cpp - from compiled functions to a .rmsn module ------===//

#include "RMSNorm/Module/ModuleWriter.h"
#include "ContentHash.h"
#include "Entry.h"
#include "HostFunction.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::rmsnorm;

struct ModuleWriter::State {
  rmsn::ModuleT module;

  rmsn::EntryT *find(StringRef name) {
    for (auto &entry : module.entries)
      if (entry->name == name)
        return entry.get();
    return nullptr;
  }
};

static rmsn::ProgramT &getProgram(rmsn::EntryT &entry, StringRef target) {
  for (auto &program : entry.programs)
    if (program->target == target)
      return *program;
  entry.programs.push_back(std::make_unique<rmsn::ProgramT>());
  entry.programs.back()->target = target.str();
  return *entry.programs.back();
}

ModuleWriter::ModuleWriter() : state(std::make_unique<State>()) {}
ModuleWriter::~ModuleWriter() = default;

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

LogicalResult ModuleWriter::addEntry(func::FuncOp function, StringRef name) {
  if (name.empty())
    name = function.getName();
  if (state->find(name))
    return function.emitError("expected entries of different names, got two "
                              "named '")
           << name << "'";
  FailureOr<rmsn::EntryT> entry = readEntry(function, name);
  if (failed(entry))
    return failure();
  state->module.entries.push_back(
      std::make_unique<rmsn::EntryT>(std::move(*entry)));
  return success();
}

//===----------------------------------------------------------------------===//
// Images and variants
//===----------------------------------------------------------------------===//

static rmsn::BinaryFormat getFormat(BinaryKind kind) {
  switch (kind) {
  case BinaryKind::PTX:
    return rmsn::BinaryFormat::Ptx;
  case BinaryKind::Cubin:
    return rmsn::BinaryFormat::Cubin;
  case BinaryKind::HSACO:
    return rmsn::BinaryFormat::Hsaco;
  case BinaryKind::HostELF:
    return rmsn::BinaryFormat::Elf;
  }
  llvm_unreachable("all kinds are handled");
}

static rmsn::Backend getBackend(TargetAttr target) {
  if (!target)
    return rmsn::Backend::Oracle;
  switch (target.getBackend()) {
  case Backend::nvvm:
    return rmsn::Backend::Cuda;
  case Backend::rocdl:
    return rmsn::Backend::Hip;
  case Backend::sim:
    return rmsn::Backend::Sim;
  }
  llvm_unreachable("all back ends are handled");
}

unsigned ModuleWriter::addImage(TargetAttr target,
                                SmallVector<ModuleBinary> binaries) {
  auto image = std::make_unique<rmsn::ImageT>();
  image->backend = getBackend(target);
  image->target = target ? target.getSpelling() : "oracle";
  image->chip = target ? target.getChip().str() : "oracle";
  if (image->backend == rmsn::Backend::Sim ||
      image->backend == rmsn::Backend::Oracle) {
    // The host that serializeHost compiles for.
    llvm::Triple host(llvm::sys::getProcessTriple());
    image->host_isa = host.isX86() ? "x86-64-v3" : host.getArchName().str();
  }
  state->module.images.push_back(std::move(image));
  unsigned number = state->module.images.size() - 1;
  addBinaries(number, binaries);
  return number;
}

void ModuleWriter::addBinaries(unsigned image,
                               ArrayRef<ModuleBinary> binaries) {
  auto &added = state->module.images[image]->binaries;
  for (const ModuleBinary &binary : binaries) {
    added.push_back(std::make_unique<rmsn::BinaryT>());
    added.back()->format = getFormat(binary.kind);
    added.back()->bytes.assign(binary.bytes.begin(), binary.bytes.end());
  }
}

/// Adds the guards that make an argument's rows lie at multiples of `bytes`.
static void addGuards(const rmsn::EntryT &entry, func::FuncOp host,
                      AlignmentGuard guard, rmsn::VariantT &variant) {
  unsigned index = guard.argument;
  int64_t elements = guard.bytes / getElementBytes(host, index);
  if (elements <= 1)
    return;
  auto add = [&](rmsn::GuardKind kind, Expression expression,
                 int64_t multiple) {
    auto added = std::make_unique<rmsn::GuardT>();
    added->kind = kind;
    added->argument = index;
    added->expression = pack(std::move(expression));
    added->multiple = multiple;
    variant.guards.push_back(std::move(added));
  };
  add(rmsn::GuardKind::PointerAligned, {}, guard.bytes);
  ArrayRef<int64_t> dims = entry.arguments[index]->dims;
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
    add(rmsn::GuardKind::MultipleOf, std::move(stride), elements);
  }
  if (!dims.empty() && dims.back() < 0)
    add(rmsn::GuardKind::MultipleOf, sizeExpression(index, dims.size() - 1),
        elements);
}

LogicalResult
ModuleWriter::addVariant(func::FuncOp host, VariantOptions options,
                         function_ref<unsigned(StringRef)> imageOf,
                         StringRef entryName) {
  if (entryName.empty())
    entryName = host.getName();
  rmsn::EntryT *entry = state->find(entryName);
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
  auto variant = std::make_unique<rmsn::VariantT>();
  variant->name = std::move(options.name);
  variant->schedule = std::move(options.schedule);
  variant->tuning_key = std::move(options.tuningKey);
  for (AlignmentGuard guard : options.guards)
    addGuards(*entry, host, guard, *variant);
  for (const RangeGuard &range : options.ranges) {
    FailureOr<Expression> expression =
        IndexExpressions(host).evaluate(range.value);
    if (failed(expression))
      return failure();
    auto guard = std::make_unique<rmsn::GuardT>();
    guard->expression = pack(std::move(*expression));
    if (range.multiple != 1) {
      guard->kind = rmsn::GuardKind::MultipleOf;
      guard->multiple = range.multiple;
    } else {
      guard->kind = rmsn::GuardKind::InRange;
      guard->lower = range.lower;
      guard->upper = range.upper;
    }
    variant->guards.push_back(std::move(guard));
  }
  rmsn::ProgramT &programOfTarget = getProgram(*entry, target.getSpelling());
  auto checkCount = [&](size_t count, unsigned limit, StringRef what) {
    if (count <= limit)
      return success();
    return LogicalResult(host.emitError("expected at most ")
                         << limit << " " << what << ", got " << count);
  };
  if (failed(checkCount(variant->guards.size(), rmsn::kMaxGuards,
                        "guards of a variant")) ||
      failed(checkCount(program->launches.size(), rmsn::kMaxLaunches,
                        "kernels for an entry")) ||
      failed(checkCount(programOfTarget.variants.size() + 1, rmsn::kMaxVariants,
                        "variants of an entry")) ||
      failed(checkCount(
          std::max(variant->schedule.size(), variant->tuning_key.size()),
          rmsn::kMaxProseBytes, "bytes of schedules as text")))
    return failure();
  for (auto [launch, module] :
       llvm::zip_equal(program->launches, program->modules)) {
    launch->image = imageOf(module);
    launch->subgroup_size = target.getChipInfo().subgroupSize;
  }
  variant->launches = std::move(program->launches);
  variant->workspace = std::move(program->workspace);
  programOfTarget.variants.push_back(std::move(variant));
  return success();
}

void ModuleWriter::addLastVariantOf(StringRef other, StringRef entry,
                                    TargetAttr target) {
  std::string spelling = target.getSpelling();
  const auto &last = getProgram(*state->find(other), spelling).variants.back();
  getProgram(*state->find(entry), spelling)
      .variants.push_back(std::make_unique<rmsn::VariantT>(*last));
}

void ModuleWriter::addHostProgram(StringRef entryName, StringRef target,
                                  StringRef variantName, unsigned image,
                                  StringRef symbol) {
  auto launch = std::make_unique<rmsn::LaunchT>();
  launch->image = image;
  launch->kernel = symbol.str();
  launch->grid_x = pack(constantExpression(1));
  launch->subgroup_size = 1;
  auto variant = std::make_unique<rmsn::VariantT>();
  variant->name = variantName.str();
  variant->launches.push_back(std::move(launch));
  getProgram(*state->find(entryName), target)
      .variants.push_back(std::move(variant));
}

void ModuleWriter::addOracle(StringRef entry, unsigned image,
                             StringRef symbol) {
  addHostProgram(entry, "oracle", "definition", image, symbol);
}

std::string ModuleWriter::finish() {
  rmsn::ModuleT &module = state->module;
  module.format_version = 3;
  module.producer =
      "norm-compile " RMSNORM_VERSION ", LLVM " LLVM_VERSION_STRING;
  // Not zero: a builder leaves out a field that equals the default, and the
  // stamp below needs its 16 bytes.
  module.content_hash = std::make_unique<rmsn::ContentHash>(1, 1);
  flatbuffers::FlatBufferBuilder b;
  b.Finish(rmsn::CreateModule(b, &module), rmsn::ModuleIdentifier());
  rmsn::stampContentHash(b.GetBufferPointer(), b.GetSize());
  return std::string(reinterpret_cast<const char *>(b.GetBufferPointer()),
                     b.GetSize());
}
