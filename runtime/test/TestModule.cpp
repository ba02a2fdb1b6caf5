//===- TestModule.cpp - building modules in tests -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestModule.h"

using namespace test;
using flatbuffers::Offset;

namespace {

class Writer {
public:
  std::string write(const Module &module) {
    std::vector<Offset<rmsn::Entry>> entries;
    for (const Entry &e : module.entries)
      entries.push_back(entry(e));
    std::vector<Offset<rmsn::Image>> images;
    for (const Image &i : module.images)
      images.push_back(image(i));
    rmsn::ContentHash hash(0, 0);
    auto root = rmsn::CreateModuleDirect(fb, module.version, "TestModule",
                                         &hash, &entries, &images);
    rmsn::FinishModuleBuffer(fb, root);
    rmsn::stampContentHash(fb.GetBufferPointer(), fb.GetSize());
    return std::string(reinterpret_cast<char *>(fb.GetBufferPointer()),
                       fb.GetSize());
  }

private:
  Offset<rmsn::Expression> expression(const Ops &ops) {
    if (ops.empty())
      return 0;
    return rmsn::CreateExpressionDirect(fb, &ops);
  }

  Offset<rmsn::Entry> entry(const Entry &e) {
    std::vector<Offset<rmsn::Argument>> arguments;
    for (const Argument &a : e.arguments) {
      arguments.push_back(rmsn::CreateArgumentDirect(
          fb, a.name.c_str(), a.role, a.dtype, &a.dims, a.innerContiguous,
          a.dense, a.alignment, false, /*nonempty_rows=*/false, a.maxColumns,
          a.bounds.empty() ? nullptr : &a.bounds));
    }
    std::vector<Offset<rmsn::Program>> programs;
    for (const Program &p : e.programs) {
      std::vector<Offset<rmsn::Variant>> variants;
      for (const Variant &v : p.variants)
        variants.push_back(variant(v));
      programs.push_back(
          rmsn::CreateProgramDirect(fb, p.target.c_str(), &variants));
    }
    std::vector<Offset<rmsn::SizeRule>> sizes;
    for (const SizeRule &s : e.sizes)
      sizes.push_back(rmsn::CreateSizeRule(
          fb, s.argument, s.dimension, s.relation, expression(s.expression)));
    return rmsn::CreateEntryDirect(fb, e.name.c_str(), &arguments, &programs,
                                   &sizes);
  }

  Offset<rmsn::Variant> variant(const Variant &v) {
    std::vector<Offset<rmsn::Guard>> guards;
    for (const Guard &g : v.guards)
      guards.push_back(rmsn::CreateGuard(fb, g.kind, g.argument,
                                         expression(g.expression), g.multiple,
                                         g.lower, g.upper));
    std::vector<Offset<rmsn::Launch>> launches;
    for (const Launch &l : v.launches)
      launches.push_back(launch(l));
    return rmsn::CreateVariantDirect(fb, v.name.c_str(), "schedule of a test",
                                     &guards, expression(v.workspace),
                                     &launches);
  }

  Offset<rmsn::Launch> launch(const Launch &l) {
    std::vector<Offset<rmsn::Parameter>> parameters;
    for (const Parameter &p : l.parameters)
      parameters.push_back(rmsn::CreateParameter(
          fb, p.kind, p.argument, expression(p.expression), p.f32));
    return rmsn::CreateLaunchDirect(
        fb, l.image, l.kernel.c_str(), expression(l.gridX), expression(l.gridY),
        expression(l.gridZ), l.blockX, 1, 1, l.clusterX,
        expression(l.sharedMemory), l.blocksPerMultiprocessor, l.pdl,
        l.subgroup, &parameters);
  }

  Offset<rmsn::Image> image(const Image &i) {
    std::vector<Offset<rmsn::Binary>> binaries;
    for (const auto &[format, code] : i.binaries) {
      std::vector<uint8_t> bytes(code.begin(), code.end());
      binaries.push_back(rmsn::CreateBinaryDirect(fb, format, &bytes));
    }
    return rmsn::CreateImageDirect(fb, i.target.c_str(), i.backend,
                                   i.chip.c_str(), i.hostIsa.c_str(),
                                   &binaries);
  }

  flatbuffers::FlatBufferBuilder fb;
};

} // namespace

std::string Module::file() const { return Writer().write(*this); }

void test::restamp(std::string &file) {
  rmsn::stampContentHash(reinterpret_cast<uint8_t *>(file.data()), file.size());
}

Module test::forwardModule(const std::string &target, rmsn::Backend backend,
                           rmsn::BinaryFormat format, const std::string &code) {
  using rmsn::ExpressionOpcode;
  using rmsn::GuardKind;
  using rmsn::ParameterKind;
  Launch launch;
  launch.kernel = "forward_kernel";
  // min(ceildiv(M, 4), 8 * multiprocessors)
  launch.gridX = {size(0, 0),
                  constant(4),
                  op(ExpressionOpcode::CeilDiv),
                  constant(8),
                  multiprocessors(),
                  op(ExpressionOpcode::Mul),
                  op(ExpressionOpcode::Min)};
  launch.parameters = {{ParameterKind::Pointer, 0},
                       {ParameterKind::Pointer, 1},
                       {ParameterKind::Pointer, 2},
                       {ParameterKind::I64, 0, {stride(0, 0)}},
                       {ParameterKind::I64, 0, {stride(2, 0)}},
                       {ParameterKind::I64, 0, {size(0, 0)}},
                       {ParameterKind::F32, 0, {}, 1e-5f}};
  Variant aligned{"align16", {}, {}, {launch}};
  for (unsigned argument : {0u, 1u, 2u})
    aligned.guards.push_back(
        {GuardKind::PointerAligned, argument, {}, 16, INT64_MIN, INT64_MAX});
  aligned.guards.push_back({GuardKind::MultipleOf, 0, {stride(0, 0)}, 8});
  aligned.guards.push_back({GuardKind::MultipleOf, 0, {stride(2, 0)}, 8});
  Variant element{"element", {}, {}, {launch}};
  element.launches[0].kernel = "forward_element_kernel";
  Module module;
  module.entries = {
      {"forward",
       {{"x", rmsn::Role::Input, rmsn::DataType::BF16, {-1, 4096}},
        {"weight", rmsn::Role::Input, rmsn::DataType::BF16, {4096}, true},
        {"y",
         rmsn::Role::Output,
         rmsn::DataType::BF16,
         {-1, 4096},
         false,
         0,
         1}},
       {{target, {aligned, element}}}}};
  module.images = {{target, backend, target, {{format, code}}, ""}};
  return module;
}
