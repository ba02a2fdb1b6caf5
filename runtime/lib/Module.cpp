//===- Module.cpp - opening a module --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Module.h"
#include "ContentHash.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

using namespace rmsnorm::runtime;

void FreeDeleter::operator()(void *memory) const { std::free(memory); }

Bytes rmsnorm::runtime::allocateBytes(size_t size) {
  // FlatBuffers needs 8; 64 also suits programs that map the code inside.
  size_t rounded = (size + 63) & ~size_t(63);
  if (rounded < size)
    return nullptr;
  return Bytes(
      static_cast<uint8_t *>(std::aligned_alloc(64, rounded ? rounded : 64)));
}

rmsnorm_status Module::open(Bytes bytes, size_t size,
                            std::shared_ptr<Module> &module) {
  // Smallest file with an identifier; also keeps the verifier's asserts quiet.
  constexpr size_t smallest = 16;
  if (size < smallest)
    return fail(RMSNORM_INVALID_MODULE,
                "expected an rmsnorm module, got %zu bytes, fewer than any "
                "module has",
                size);
  if (size >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return fail(RMSNORM_INVALID_MODULE,
                "expected a module below 2 GiB, got %zu bytes", size);
  if (!rmsn::ModuleBufferHasIdentifier(bytes.get()))
    return fail(RMSNORM_INVALID_MODULE,
                "expected an rmsnorm module, which has \"RMSN\" at byte 4, got "
                "a file that begins %02x %02x %02x %02x %02x %02x %02x %02x",
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5],
                bytes[6], bytes[7]);
  // Tables may be shared within a file, so a small file could unfold into very
  // many: the limit bounds the time of everything below.
  flatbuffers::Verifier verifier(bytes.get(), size, /*max_depth=*/32,
                                 /*max_tables=*/200000);
  if (!rmsn::VerifyModuleBuffer(verifier))
    return fail(RMSNORM_INVALID_MODULE,
                "the module is damaged or cut short: its %zu bytes are not a "
                "valid FlatBuffer",
                size);
  const rmsn::Module &root = *rmsn::GetModule(bytes.get());
  if (root.format_version() != 3)
    return fail(RMSNORM_INVALID_MODULE,
                "expected module format version 3, got %u: compile it anew",
                root.format_version());
  const rmsn::ContentHash &given = *root.content_hash();
  size_t offset = reinterpret_cast<const uint8_t *>(&given) - bytes.get();
  rmsn::ContentHash computed =
      rmsn::computeContentHash(bytes.get(), size, offset);
  if (given.low() != computed.low() || given.high() != computed.high())
    return fail(RMSNORM_INVALID_MODULE,
                "the module is damaged: expected content hash "
                "%016llx%016llx, got %016llx%016llx",
                (unsigned long long)given.high(),
                (unsigned long long)given.low(),
                (unsigned long long)computed.high(),
                (unsigned long long)computed.low());
  RMSNORM_TRY(checkModule(root));

  static std::atomic<uint64_t> nextSerial{1};
  auto opened = std::make_shared<Module>();
  opened->bytes = std::move(bytes);
  opened->byteCount = size;
  opened->serialNumber = nextSerial++;
  module = std::move(opened);
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_open_memory(const void *bytes, size_t size,
                                          rmsnorm_module **module) {
  if (!bytes || !module)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                bytes ? "module" : "bytes");
  Bytes copy = allocateBytes(size);
  if (!copy)
    return fail(RMSNORM_OUT_OF_MEMORY, "no memory for a module of %zu bytes",
                size);
  std::memcpy(copy.get(), bytes, size);
  std::shared_ptr<Module> opened;
  RMSNORM_TRY(Module::open(std::move(copy), size, opened));
  *module = new rmsnorm_module{std::move(opened)};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_open_file(const char *path,
                                        rmsnorm_module **module) {
  if (!path || !module)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                path ? "module" : "path");
  // Does not wait for the writer of a pipe.
  int descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(
      descriptor < 0 ? nullptr : fdopen(descriptor, "rb"), &std::fclose);
  struct stat status;
  if (!file || fstat(descriptor, &status) != 0)
    return fail(RMSNORM_NOT_FOUND, "cannot open module '%s': %s", path,
                std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail(RMSNORM_INVALID_MODULE,
                "cannot open module '%s': expected a regular file", path);
  size_t size = status.st_size;
  Bytes bytes = allocateBytes(size);
  if (!bytes)
    return fail(RMSNORM_OUT_OF_MEMORY, "no memory for module '%s' of %zu bytes",
                path, size);
  if (std::fread(bytes.get(), 1, size, file.get()) != size)
    return fail(RMSNORM_INVALID_MODULE,
                "cannot read module '%s': expected %zu bytes", path, size);
  std::shared_ptr<Module> opened;
  if (rmsnorm_status code = Module::open(std::move(bytes), size, opened))
    return fail(code, "module '%s': %s", path, rmsnorm_last_error());
  *module = new rmsnorm_module{std::move(opened)};
  return RMSNORM_OK;
}

void rmsnorm_module_close(rmsnorm_module *module) { delete module; }
