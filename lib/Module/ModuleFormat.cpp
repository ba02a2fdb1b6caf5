// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleFormat.cpp - the FlatBuffer of a module ---------------------===//

#include "ContentHash.h"
#include "ModuleData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace mlir::rmsnorm;
namespace fb = flatbuffers;

using FlatBuilder = flatbuffers::FlatBufferBuilder;

static fb::Offset<rmsn::Expression> write(FlatBuilder &b, const Expression &e) {
  if (e.empty())
    return 0;
  return rmsn::CreateExpression(b, b.CreateVectorOfStructs(e));
}

static fb::Offset<rmsn::ErrorBound>
write(FlatBuilder &b, const OutputErrorBound &bound, const EntryData &entry) {
  ArrayRef<int64_t> dims = entry.arguments[bound.termsArgument].dims;
  auto size = [&](unsigned d) {
    return dims[d] >= 0 ? constantExpression(dims[d])
                        : sizeExpression(bound.termsArgument, d);
  };
  Expression terms, rows;
  if (!dims.empty())
    terms = size(dims.size() - 1);
  for (unsigned d = 0; d + 1 < dims.size(); ++d)
    rows = d == 0
               ? size(d)
               : binaryExpression(rmsn::ExpressionOpcode::Mul, rows, size(d));
  auto termsOffset = write(b, terms);
  auto rowsOffset = write(b, rows);
  auto derivation = b.CreateString(bound.derivation);
  rmsn::ErrorBoundBuilder built(b);
  built.add_ulps(bound.ulps);
  built.add_terms(termsOffset);
  built.add_rows(rowsOffset);
  built.add_relative(bound.relative);
  built.add_relative_per_sqrt_terms(bound.relativePerSqrtTerms);
  built.add_magnitude(bound.magnitude);
  built.add_magnitude_per_sqrt_terms(bound.magnitudePerSqrtTerms);
  built.add_magnitude_per_sqrt_rows(bound.magnitudePerSqrtRows);
  built.add_flip(bound.flip);
  built.add_flip_chance(bound.flipChance);
  built.add_flip_chance_per_sqrt_terms(bound.flipChancePerSqrtTerms);
  built.add_derivation(derivation);
  return built.Finish();
}

static fb::Offset<rmsn::Argument> write(FlatBuilder &b, const ArgumentData &a,
                                        const EntryData &entry) {
  auto bound = a.bound ? write(b, *a.bound, entry) : 0;
  auto name = b.CreateString(a.name);
  auto dims = b.CreateVector(a.dims);
  return rmsn::CreateArgument(b, name, a.role, a.dtype, dims, a.innerContiguous,
                              a.dense, a.alignment, a.constant, bound,
                              a.nonemptyRows, a.maxColumns);
}

static fb::Offset<rmsn::Launch> write(FlatBuilder &b, const HostLaunch &l,
                                      unsigned image, unsigned subgroupSize) {
  std::vector<fb::Offset<rmsn::Parameter>> parameters;
  for (const HostParameter &p : l.parameters) {
    auto expression = write(b, p.expression);
    parameters.push_back(
        rmsn::CreateParameter(b, p.kind, p.argument, expression, p.constant));
  }
  auto parametersOffset = b.CreateVector(parameters);
  auto kernel = b.CreateString(l.kernel);
  auto x = write(b, l.grid[0]);
  auto y = write(b, l.grid[1]);
  auto z = write(b, l.grid[2]);
  auto sharedMemory = write(b, l.sharedMemory);
  rmsn::LaunchBuilder launch(b);
  launch.add_image(image);
  launch.add_kernel(kernel);
  launch.add_grid_x(x);
  launch.add_grid_y(y);
  launch.add_grid_z(z);
  launch.add_block_x(l.block[0]);
  launch.add_block_y(l.block[1]);
  launch.add_block_z(l.block[2]);
  launch.add_cluster_x(l.cluster);
  launch.add_shared_memory(sharedMemory);
  launch.add_blocks_per_multiprocessor(l.blocksPerMultiprocessor);
  launch.add_programmatic_dependent_launch(l.dependentLaunch);
  launch.add_subgroup_size(subgroupSize);
  launch.add_parameters(parametersOffset);
  return launch.Finish();
}

static fb::Offset<rmsn::Variant> write(FlatBuilder &b, const VariantData &v) {
  std::vector<fb::Offset<rmsn::Guard>> guards;
  for (const GuardData &g : v.guards) {
    auto expression = write(b, g.expression);
    guards.push_back(rmsn::CreateGuard(b, g.kind, g.argument, expression,
                                       g.multiple, g.lower, g.upper));
  }
  std::vector<fb::Offset<rmsn::Launch>> launches;
  for (auto [launch, image] : llvm::zip_equal(v.launches, v.images))
    launches.push_back(write(b, launch, image, v.subgroupSize));
  auto name = b.CreateString(v.name);
  auto schedule = b.CreateString(v.schedule);
  auto guardsOffset = b.CreateVector(guards);
  auto workspace = write(b, v.workspace);
  auto launchesOffset = b.CreateVector(launches);
  fb::Offset<fb::String> tuningKey = 0;
  if (!v.tuningKey.empty())
    tuningKey = b.CreateString(v.tuningKey);
  return rmsn::CreateVariant(b, name, schedule, guardsOffset, workspace,
                             launchesOffset, tuningKey);
}

static fb::Offset<rmsn::Entry> write(FlatBuilder &b, const EntryData &e) {
  std::vector<fb::Offset<rmsn::Argument>> arguments;
  for (const ArgumentData &argument : e.arguments)
    arguments.push_back(write(b, argument, e));
  std::vector<fb::Offset<rmsn::Program>> programs;
  for (const ProgramData &p : e.programs) {
    std::vector<fb::Offset<rmsn::Variant>> variants;
    for (const VariantData &variant : p.variants)
      variants.push_back(write(b, variant));
    auto target = b.CreateString(p.target);
    auto variantsOffset = b.CreateVector(variants);
    programs.push_back(rmsn::CreateProgram(b, target, variantsOffset));
  }
  auto name = b.CreateString(e.name);
  auto argumentsOffset = b.CreateVector(arguments);
  auto programsOffset = b.CreateVector(programs);
  return rmsn::CreateEntry(b, name, argumentsOffset, programsOffset);
}

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

static fb::Offset<rmsn::Image> write(FlatBuilder &b, const ImageData &image) {
  std::vector<fb::Offset<rmsn::Binary>> binaries;
  for (const ModuleBinary &binary : image.binaries) {
    // Loaders want code at an address of a certain alignment; they copy where
    // it is not met, so that 16 suffices here.
    b.ForceVectorAlignment(binary.bytes.size(), 1, 16);
    auto bytes =
        b.CreateVector(reinterpret_cast<const uint8_t *>(binary.bytes.data()),
                       binary.bytes.size());
    binaries.push_back(rmsn::CreateBinary(b, getFormat(binary.kind), bytes));
  }
  auto target = b.CreateString(image.target);
  auto chip = b.CreateString(image.chip);
  fb::Offset<fb::String> hostISA = 0;
  if (!image.hostISA.empty())
    hostISA = b.CreateString(image.hostISA);
  auto binariesOffset = b.CreateVector(binaries);
  return rmsn::CreateImage(b, target, image.backend, chip, hostISA,
                           binariesOffset);
}

std::string rmsnorm::writeModule(ArrayRef<EntryData> entryData,
                                 ArrayRef<ImageData> imageData) {
  FlatBuilder b;
  std::vector<fb::Offset<rmsn::Entry>> entries;
  for (const EntryData &entry : entryData)
    entries.push_back(write(b, entry));
  std::vector<fb::Offset<rmsn::Image>> images;
  for (const ImageData &image : imageData)
    images.push_back(write(b, image));
  auto producer =
      b.CreateString("norm-compile 0.1.0, LLVM " LLVM_VERSION_STRING);
  auto entriesOffset = b.CreateVector(entries);
  auto imagesOffset = b.CreateVector(images);
  // Not zero: a builder leaves out what equals the default, and the stamp
  // below needs the 16 bytes to be there.
  rmsn::ContentHash hash(1, 1);
  b.Finish(rmsn::CreateModule(b, /*format_version=*/1, producer, &hash,
                              entriesOffset, imagesOffset),
           rmsn::ModuleIdentifier());
  rmsn::stampContentHash(b.GetBufferPointer(), b.GetSize());
  return std::string(reinterpret_cast<const char *>(b.GetBufferPointer()),
                     b.GetSize());
}
