// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleWriter.h - from compiled functions to a .rmsn module --------===//
//
// A module is data, described in runtime/format/module.fbs. The writer takes
// host functions as rmsnorm-distribute leaves them, turns their index
// arithmetic into expressions that the runtime evaluates at a call, and keeps
// the device code that others made. A host function that does more than launch
// kernels is an error naming the operation.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_MODULE_MODULEWRITER_H
#define RMSNORM_MODULE_MODULEWRITER_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace mlir::rmsnorm {

/// Forms of device code a module can hold.
enum class BinaryKind { PTX, Cubin, HSACO, HostELF };

struct ModuleBinary {
  BinaryKind kind;
  std::string bytes;
};

/// The condition of a variant on one argument: its address, the distance of its
/// rows and the size of a row are multiples of `bytes`.
struct AlignmentGuard {
  unsigned argument;
  int64_t bytes;
};

/// The condition of a variant on an index value that its function computes from
/// sizes and strides of its arguments: lower <= value <= upper, or, if
/// `multiple` is not 1, that it is a multiple. The value may belong to another
/// function with the same arguments.
struct RangeGuard {
  Value value;
  int64_t lower = std::numeric_limits<int64_t>::min();
  int64_t upper = std::numeric_limits<int64_t>::max();
  int64_t multiple = 1;
};

class ModuleWriter {
public:
  ModuleWriter();
  ~ModuleWriter();

  /// Declares an entry with the arguments of `function`, which are memrefs with
  /// the attributes of rmsnorm-bind-arguments, and its name unless `name` is
  /// given.
  LogicalResult addEntry(func::FuncOp function, StringRef name = {});

  /// Adds device code and returns its number. `target` null: the oracle.
  unsigned addImage(TargetAttr target, SmallVector<ModuleBinary> binaries = {});
  /// Adds forms of the code to an image.
  void addBinaries(unsigned image, ArrayRef<ModuleBinary> binaries);

  struct VariantOptions {
    std::string name;
    /// #rmsnorm.schedule as text, for people.
    std::string schedule;
    /// The key of a candidate's program in tuning files; otherwise empty.
    std::string tuningKey;
    SmallVector<AlignmentGuard> guards;
    SmallVector<RangeGuard> ranges;
  };

  /// Appends a variant to the program of `entry`, by default the one that
  /// `host` is named after, for the target of the module `host` is in. Variants
  /// are tried in the order they were added; the last of each program must have
  /// no guards. `imageOf` maps the name of a gpu.module to the result of
  /// addImage.
  LogicalResult addVariant(func::FuncOp host, VariantOptions options,
                           function_ref<unsigned(StringRef)> imageOf,
                           StringRef entry = {});

  /// Appends to the program of `entry` the last variant of another entry's,
  /// which has the same arguments.
  void addLastVariantOf(StringRef other, StringRef entry, TargetAttr target);

  /// Adds the oracle of an entry: the function `symbol` of an image, which
  /// takes the descriptors of all arguments.
  void addOracle(StringRef entry, unsigned image, StringRef symbol);

  /// The bytes of the module.
  std::string finish();

private:
  void addHostProgram(StringRef entry, StringRef target, StringRef variant,
                      unsigned image, StringRef symbol);

  struct State;
  std::unique_ptr<State> state;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_MODULE_MODULEWRITER_H
