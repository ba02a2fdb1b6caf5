// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Link.cpp - the tools that run after LLVM: lld and ptxas -----------===//

#include "Link.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include "lld/Common/Driver.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Fatal errors
//===----------------------------------------------------------------------===//

/// The message of the fatal error that ended this thread's guarded body.
static thread_local std::string *fatalMessage = nullptr;

static void handleFatalError(void *, const char *reason, bool) {
  llvm::CrashRecoveryContext *context =
      llvm::CrashRecoveryContext::GetCurrent();
  if (!fatalMessage || !context)
    return; // Not ours: LLVM ends the process as always.
  *fatalMessage = reason;
  context->HandleExit(1);
}

namespace {
/// LLVM has one handler for the process: installed while it is needed.
class FatalErrorHandler {
public:
  FatalErrorHandler() {
    std::lock_guard<std::mutex> lock(mutex);
    if (users++ == 0) {
      llvm::CrashRecoveryContext::Enable();
      llvm::install_fatal_error_handler(handleFatalError);
    }
  }
  ~FatalErrorHandler() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--users == 0) {
      llvm::remove_fatal_error_handler();
      llvm::CrashRecoveryContext::Disable();
    }
  }

private:
  static std::mutex mutex;
  static int users;
};
std::mutex FatalErrorHandler::mutex;
int FatalErrorHandler::users = 0;
} // namespace

LogicalResult rmsnorm::runGuarded(Location loc,
                                  function_ref<LogicalResult()> body) {
  FatalErrorHandler handler;
  std::string message;
  std::string *outer = std::exchange(fatalMessage, &message);
  LogicalResult result = failure();
  llvm::CrashRecoveryContext context;
  bool survived = context.RunSafely([&] { result = body(); });
  fatalMessage = outer;
  if (survived)
    return result;
  if (message.empty())
    message = "a crash in the back end";
  return emitError(loc, "code generation failed: ") << message;
}

//===----------------------------------------------------------------------===//
// Temporary files
//===----------------------------------------------------------------------===//

namespace {
/// A file of our own in the temporary directory, removed at the end, also when
/// a signal ends the process.
class TemporaryFile {
public:
  ~TemporaryFile() {
    if (!path.empty())
      llvm::sys::DontRemoveFileOnSignal(path);
  }

  /// Beside `other`, whose name no one else has; whoever writes it creates it.
  void name(const TemporaryFile &other, StringRef suffix) {
    own(other.path + "." + suffix.str());
  }

  LogicalResult create(Location loc, StringRef suffix, StringRef contents) {
    int descriptor;
    llvm::SmallString<128> name;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile(
            "rmsnorm", suffix, descriptor, name))
      return emitError(loc, "cannot create a temporary file: ")
             << error.message();
    own(std::string(name));
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << contents;
    stream.close();
    if (stream.has_error()) {
      std::string reason = stream.error().message();
      stream.clear_error();
      return emitError(loc, "cannot write '") << path << "': " << reason;
    }
    return success();
  }

  FailureOr<Blob> read(Location loc) const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return emitError(loc, "cannot read '")
             << path << "': " << buffer.getError().message();
    StringRef bytes = (*buffer)->getBuffer();
    return Blob(bytes.begin(), bytes.end());
  }

  std::string path;

private:
  void own(std::string name) {
    path = std::move(name);
    remover.setFile(path);
    llvm::sys::RemoveFileOnSignal(path);
  }

  llvm::FileRemover remover;
};
} // namespace

//===----------------------------------------------------------------------===//
// lld
//===----------------------------------------------------------------------===//

FailureOr<Blob> rmsnorm::linkSharedObject(Location loc, StringRef object) {
  TemporaryFile input, output;
  if (failed(input.create(loc, "o", object)))
    return failure();
  // lld replaces what is there, which file systems make sure to have on the
  // disk.
  output.name(input, "so");
  static std::mutex mutex; // lld keeps its state in globals.
  static bool usable = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!usable)
    return emitError(loc, "the linker failed before and cannot run again in "
                          "this process");
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  // One object is linked faster than threads are started.
  const char *arguments[] = {
      "ld.lld",      "-shared",          "--no-undefined",
      "--threads=1", "--error-limit=5",  "--build-id=none",
      "-z",          "noexecstack",      input.path.c_str(),
      "-o",          output.path.c_str()};
  lld::Result result = {1, true};
  LogicalResult guarded = runGuarded(loc, [&] {
    result =
        lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
    return success();
  });
  usable = succeeded(guarded) && result.canRunAgain;
  if (failed(guarded))
    return failure();
  if (result.retCode != 0)
    return emitError(loc, "linking failed: ") << StringRef(messages).trim();
  return output.read(loc);
}

//===----------------------------------------------------------------------===//
// ptxas
//===----------------------------------------------------------------------===//

std::optional<std::string> rmsnorm::findPtxas() {
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    std::optional<std::string> root = llvm::sys::Process::GetEnv(variable);
    if (!root)
      continue;
    llvm::SmallString<128> path(*root);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return std::string(path);
  }
  if (auto path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  constexpr const char *fallback = "/usr/local/cuda/bin/ptxas";
  if (llvm::sys::fs::can_execute(fallback))
    return std::string(fallback);
  return std::nullopt;
}

namespace {
struct Assembled {
  Blob cubin, log;
};
} // namespace

static FailureOr<Assembled> runPtxasOnce(Location loc, StringRef ptxas,
                                         ArrayRef<StringRef> options,
                                         StringRef ptx) {
  TemporaryFile input, output, messages;
  if (failed(input.create(loc, "ptx", ptx)) ||
      failed(output.create(loc, "cubin", "")) ||
      failed(messages.create(loc, "txt", "")))
    return failure();
  SmallVector<StringRef> command = {ptxas};
  command.append(options.begin(), options.end());
  command.append({"-O3", "-v", input.path, "-o", output.path});
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(messages.path),
                                          StringRef(messages.path)};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(ptxas, command, /*Env=*/std::nullopt,
                                         redirects, /*SecondsToWait=*/120,
                                         /*MemoryLimit=*/0, &error);
  FailureOr<Blob> log = messages.read(loc);
  if (failed(log))
    return failure();
  if (status != 0) {
    StringRef said = StringRef(log->data(), log->size()).trim();
    InFlightDiagnostic diagnostic = emitError(loc) << ptxas << " failed: ";
    if (!error.empty())
      return diagnostic << error;
    if (said.empty())
      return diagnostic << "it ended with status " << status
                        << " and said nothing; is it ptxas?";
    return diagnostic << said;
  }
  FailureOr<Blob> cubin = output.read(loc);
  if (failed(cubin))
    return failure();
  if (cubin->empty())
    return emitError(loc) << ptxas << " wrote no machine code; is it ptxas?";
  return Assembled{std::move(*cubin), std::move(*log)};
}

/// Whether what `ptxas -v` says has a kernel that spills.
static bool spills(StringRef log) {
  static const llvm::Regex stores("[1-9][0-9]* bytes spill stores");
  return stores.match(log);
}

FailureOr<Blob> rmsnorm::runPtxas(Location loc, StringRef ptxas, StringRef chip,
                                  StringRef ptx, std::string *log) {
  const std::string chipOption = ("-arch=" + chip).str();
  const StringRef architecture = chipOption;
  FailureOr<Assembled> result = runPtxasOnce(loc, ptxas, architecture, ptx);
  // Of kernels that do not say how many of their blocks share a multiprocessor
  // ptxas makes a guess, and would rather spill than have fewer of them.
  if (succeeded(result) &&
      spills(StringRef(result->log.data(), result->log.size())))
    result =
        runPtxasOnce(loc, ptxas, {architecture, "-minnctapersm", "1"}, ptx);
  if (failed(result))
    return failure();
  if (log)
    log->append(result->log.begin(), result->log.end());
  return std::move(result->cubin);
}
