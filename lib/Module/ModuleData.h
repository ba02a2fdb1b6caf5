// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleData.h - a module before it is written ----------------------===//

#ifndef RMSNORM_LIB_MODULE_MODULEDATA_H
#define RMSNORM_LIB_MODULE_MODULEDATA_H

#include "HostFunction.h"

#include "RMSNorm/Module/ModuleWriter.h"

namespace mlir::rmsnorm {

// What the FlatBuffer's tables will say; they are written in one go, because a
// builder cannot nest tables and wants children first.
struct ArgumentData {
  std::string name;
  rmsn::Role role;
  rmsn::DataType dtype;
  std::vector<int64_t> dims;
  bool innerContiguous = true, dense = false, constant = false,
       nonemptyRows = false;
  int64_t maxColumns = 0;
  uint32_t alignment = 0;
  std::optional<OutputErrorBound> bound;
};

struct GuardData {
  rmsn::GuardKind kind;
  unsigned argument = 0;
  Expression expression;
  int64_t multiple = 1;
  int64_t lower = std::numeric_limits<int64_t>::min();
  int64_t upper = std::numeric_limits<int64_t>::max();
};

struct VariantData {
  std::string name, schedule, tuningKey;
  std::vector<GuardData> guards;
  std::vector<HostLaunch> launches;
  std::vector<unsigned> images; // of each launch
  Expression workspace;
  unsigned subgroupSize = 1;
};

struct ProgramData {
  std::string target;
  std::vector<VariantData> variants;
};

struct EntryData {
  std::string name;
  std::vector<ArgumentData> arguments;
  std::vector<int64_t> elementBytes; // of each argument
  std::vector<ProgramData> programs;

  ProgramData &getProgram(StringRef target) {
    for (ProgramData &program : programs)
      if (program.target == target)
        return program;
    programs.push_back({target.str(), {}});
    return programs.back();
  }
};

struct ImageData {
  std::string target, chip, hostISA;
  rmsn::Backend backend;
  SmallVector<ModuleBinary> binaries;
};

/// The bytes of a module, stamped with its content hash.
std::string writeModule(ArrayRef<EntryData> entries,
                        ArrayRef<ImageData> images);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_MODULE_MODULEDATA_H
