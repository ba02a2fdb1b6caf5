// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Serialize.h - from finalized modules to text and machine code -----===//
//
// All functions take an operation with a symbol table (gpu.module, module)
// that holds LLVM dialect functions only, as the rmsnorm-finalize passes and
// the oracle pipeline leave it, and do not change it. The chip comes from the
// gpu.module's target or `rmsnorm.target` of the enclosing module. On failure
// they have emitted a diagnostic and nothing is written anywhere. The
// translation interfaces must be in the context: registerSerialization.
//
// serializeHSACO and serializeHost run lld, which resets all llvm::cl options
// of the process: a tool must read its own before.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_TARGET_SERIALIZE_H
#define RMSNORM_TARGET_SERIALIZE_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir {
class DialectRegistry;
class Operation;
} // namespace mlir

namespace mlir::rmsnorm {

/// Milliseconds spent; calls add to the old values.
struct SerializeTimes {
  double translate = 0; // LLVM dialect to LLVM IR
  double optimize = 0;  // LLVM's passes on LLVM IR
  double codegen = 0;   // LLVM IR to assembly or object
  double link = 0;      // ptxas, lld

  double total() const { return translate + optimize + codegen + link; }
};

struct SerializeOptions {
  /// AMD code object version times 100: 500 or 600.
  unsigned codeObjectVersion = 500;
  /// How far host code is optimised and how well its instructions are chosen,
  /// 0 to 3; if not given, the level in $RMSNORM_HOST_OPTIMIZATION, else 3.
  /// Results have the same bits. 0 takes a third of the time, for modules that
  /// run once; device code is always made with 3.
  std::optional<unsigned> hostOptimization;
  /// The ptxas to run, "" for none; if not given, the one that findPtxas finds.
  std::optional<std::string> ptxas;
  /// Receives the time spent, if set.
  SerializeTimes *times = nullptr;
  /// Receives the output of `ptxas -v` (registers, spills), if set.
  std::string *ptxasLog = nullptr;
};

/// The level that host code is optimised with. Emits an error at `location` if
/// the options or the environment ask for another than 0 to 3.
FailureOr<unsigned> getHostOptimization(Location location,
                                        const SerializeOptions &options);

using Blob = llvm::SmallVector<char, 0>;

/// Registers the translations to LLVM IR that serialization needs, and that
/// gpu-module-to-binary compiles a gpu.module whose target is #rmsnorm.target:
/// to machine code by default (an NVIDIA chip's without ptxas: PTX), to text
/// with format=isa. The objects name a target of upstream's.
void registerSerialization(DialectRegistry &registry);

/// The LLVM IR of a device module before (`optimized` = false) or after LLVM's
/// passes.
FailureOr<std::string> emitLLVMIR(Operation *module,
                                  const SerializeOptions &options = {},
                                  bool optimized = true);

/// PTX for NVIDIA chips, assembly for AMD chips; the host's for the simulator
/// and for a module without target, which is the oracle.
FailureOr<std::string> emitAssembly(Operation *module,
                                    const SerializeOptions &options = {});

/// As emitAssembly; an error unless the target is an NVIDIA chip.
FailureOr<std::string> serializePTX(Operation *module,
                                    const SerializeOptions &options = {});

/// The path of ptxas: $CUDA_HOME/bin, $CUDA_PATH/bin, $PATH,
/// /usr/local/cuda/bin, in this order; none if there is none.
std::optional<std::string> findPtxas();

/// The ptxas that `options` ask for, "" for none.
std::string getPtxas(const SerializeOptions &options);

/// Assembles PTX, as serializePTX returns it for `module`, to a cubin. No
/// ptxas is an error: ask getPtxas first to fall back to PTX.
FailureOr<Blob> assemblePTX(Operation *module, llvm::StringRef ptx,
                            const SerializeOptions &options = {});

/// serializePTX and assemblePTX.
FailureOr<Blob> serializeCubin(Operation *module,
                               const SerializeOptions &options = {});

/// An AMD code object: an ELF shared object with kernel descriptors.
FailureOr<Blob> serializeHSACO(Operation *module,
                               const SerializeOptions &options = {});

/// An ELF shared object for the CPU, without undefined symbols; a symbol that
/// stays undefined is an error naming it. x86-64: level v3 (AVX2, FMA, F16C);
/// elsewhere the architecture's baseline.
FailureOr<Blob> serializeHost(Operation *module,
                              const SerializeOptions &options = {});

} // namespace mlir::rmsnorm

#endif // RMSNORM_TARGET_SERIALIZE_H
