//===- TestModule.h - building modules in tests ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small description of a module that tests fill in and change, and its file.

#ifndef RMSNORM_RUNTIME_TEST_TESTMODULE_H
#define RMSNORM_RUNTIME_TEST_TESTMODULE_H

#include "ContentHash.h"

#include <optional>
#include <string>
#include <vector>

namespace test {

using Op = rmsn::ExpressionOp;
using Ops = std::vector<Op>; // empty: the expression is absent

inline Op constant(int64_t v) {
  return Op(v, rmsn::ExpressionOpcode::Constant, 0, 0);
}
inline Op size(unsigned argument, unsigned dimension) {
  return Op(0, rmsn::ExpressionOpcode::Size, dimension, argument);
}
inline Op stride(unsigned argument, unsigned dimension) {
  return Op(0, rmsn::ExpressionOpcode::Stride, dimension, argument);
}
inline Op multiprocessors() {
  return Op(0, rmsn::ExpressionOpcode::DeviceAttribute, 0, 0);
}
inline Op residentClusters(unsigned launch) {
  return Op(int64_t(rmsn::DeviceAttribute::ResidentClusters),
            rmsn::ExpressionOpcode::DeviceAttribute, 0, launch);
}
inline Op op(rmsn::ExpressionOpcode opcode) { return Op(0, opcode, 0, 0); }

struct Argument {
  std::string name;
  rmsn::Role role;
  rmsn::DataType dtype;
  std::vector<int64_t> dims;
  bool dense = false;
  unsigned alignment = 0;
  bool innerContiguous = true;
  int64_t maxColumns = 0;
  std::vector<int64_t> bounds = {};
};

struct Parameter {
  rmsn::ParameterKind kind;
  unsigned argument = 0;
  Ops expression;
  float f32 = 0;
};

struct Launch {
  unsigned image = 0;
  std::string kernel = "kernel";
  Ops gridX = {constant(1)}, gridY, gridZ;
  unsigned blockX = 128, clusterX = 1;
  Ops sharedMemory;
  unsigned blocksPerMultiprocessor = 0;
  bool pdl = false;
  unsigned subgroup = 32;
  std::vector<Parameter> parameters;
};

struct Guard {
  rmsn::GuardKind kind;
  unsigned argument = 0;
  Ops expression;
  int64_t multiple = 1, lower = INT64_MIN, upper = INT64_MAX;
};

struct Variant {
  std::string name;
  std::vector<Guard> guards;
  Ops workspace;
  std::vector<Launch> launches;
};

struct Program {
  std::string target;
  std::vector<Variant> variants;
};

struct SizeRule {
  unsigned argument, dimension;
  rmsn::SizeRelation relation;
  Ops expression;
};

struct Entry {
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Program> programs;
  std::vector<SizeRule> sizes = {};
};

struct Image {
  std::string target;
  rmsn::Backend backend;
  std::string chip;
  std::vector<std::pair<rmsn::BinaryFormat, std::string>> binaries;
  std::string hostIsa;
};

struct Module {
  unsigned version = 3;
  std::vector<Entry> entries;
  std::vector<Image> images;

  /// The file's bytes, hash included.
  std::string file() const;
};

/// Puts the right hash into a file that was changed by hand.
void restamp(std::string &file);

/// forward(x: bf16[M, 4096], weight: bf16[4096], y: bf16[M, 4096]) for one
/// target, with an "align16" variant, an "element" one, and a workspace-free
/// kernel of (pointer, pointer, pointer, i64 stride, i64 stride, i64 rows,
/// f32).
Module forwardModule(const std::string &target, rmsn::Backend backend,
                     rmsn::BinaryFormat format, const std::string &code);

} // namespace test

#endif // RMSNORM_RUNTIME_TEST_TESTMODULE_H
