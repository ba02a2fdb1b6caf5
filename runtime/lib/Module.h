//===- Module.h - an opened, checked module -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_MODULE_H
#define RMSNORM_RUNTIME_MODULE_H

#include "Limits.h"
#include "Status.h"
#include "module_generated.h"

#include <memory>

namespace rmsnorm::runtime {

struct FreeDeleter {
  void operator()(void *memory) const;
};
using Bytes = std::unique_ptr<uint8_t[], FreeDeleter>;

/// Owns the file's bytes. Once open, everything reachable from root() keeps the
/// rules of format/module.fbs.
class Module {
public:
  static rmsnorm_status open(Bytes bytes, size_t size,
                             std::shared_ptr<Module> &module);

  const rmsn::Module &root() const { return *rmsn::GetModule(bytes.get()); }
  size_t size() const { return byteCount; }
  /// Distinguishes modules of one process, also after one has been closed.
  uint64_t serial() const { return serialNumber; }

private:
  Bytes bytes;
  size_t byteCount = 0;
  uint64_t serialNumber = 0;
};

/// Memory aligned as FlatBuffers needs it; null when there is none.
Bytes allocateBytes(size_t size);

/// The format's rules beyond what FlatBuffers' verifier proves.
rmsnorm_status checkModule(const rmsn::Module &module);

/// The backend of a program's target. False: unknown target.
bool backendOfTarget(const char *target, rmsn::Backend &backend);

/// Bits of an element and its DLPack type.
DLDataType dlDataType(rmsn::DataType type);
/// "bf16", "f8e4m3fn", ... for any DLPack type, also ones modules cannot have.
std::string dlDataTypeName(DLDataType type);
const char *dataTypeName(rmsn::DataType type);
/// "ptx", "cubin", "hsaco", "elf".
const char *binaryFormatName(rmsn::BinaryFormat format);
/// "cuda", "hip", "sim", "oracle".
const char *backendName(rmsn::Backend backend);

inline const char *text(const flatbuffers::String *string) {
  return string ? string->c_str() : "";
}

} // namespace rmsnorm::runtime

/// The handle of the C API.
struct rmsnorm_module {
  std::shared_ptr<rmsnorm::runtime::Module> module;
};

#endif // RMSNORM_RUNTIME_MODULE_H
