// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Open.cpp - opens what a trial needs -------------------------------===//

#include "Open.h"

#include "rmsnorm/device.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace trial {

/// The folder this program is in, with a slash; "" if the system won't say.
static std::string getProgramFolder() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0)
    return "";
  std::string text(path, size_t(length));
  return text.substr(0, text.rfind('/') + 1);
}

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() > end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Has the norm-compile that stands beside this program compile `input` for
/// `target` and the oracle into a file, which the caller removes. On failure
/// returns "": norm-compile, or `error`, has said why.
static std::string compileModule(const std::string &input,
                                 const std::string &target,
                                 const std::vector<std::string> &options,
                                 std::string &error) {
  std::string compiler = getProgramFolder() + "norm-compile";
  if (access(compiler.c_str(), X_OK) != 0) {
    error = "expected norm-compile beside this program to compile " + input +
            ", found no " + compiler +
            "; compile it elsewhere and give the .rmsn";
    return "";
  }
  const char *folder = std::getenv("TMPDIR");
  std::string output =
      std::string(folder && *folder ? folder : "/tmp") + "/norm-run-XXXXXX";
  int file = mkstemp(output.data());
  if (file < 0) {
    error =
        "cannot make a temporary file " + output + ": " + std::strerror(errno);
    return "";
  }
  close(file);

  std::vector<std::string> words = {
      compiler, input, "--target=" + target, "--target=oracle", "-o", output};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  pid_t child;
  int status = 0;
  int failed = posix_spawn(&child, compiler.c_str(), nullptr, nullptr,
                           arguments.data(), environ);
  if (failed) {
    error = "cannot run " + compiler + ": " + std::strerror(failed);
  } else {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      return output;
    if (WIFSIGNALED(status))
      error =
          compiler + " was ended by signal " + std::to_string(WTERMSIG(status));
  }
  unlink(output.c_str());
  return "";
}

rmsnorm_device *openDevice(const Options &options, std::string &error) {
  rmsnorm_device_options deviceOptions;
  rmsnorm_device_options_init(&deviceOptions);
  deviceOptions.ordinal = options.ordinal;
  deviceOptions.target =
      options.target.empty() ? nullptr : options.target.c_str();
  deviceOptions.multiprocessor_count = options.multiprocessors;
  deviceOptions.thread_order = options.order;
  deviceOptions.seed = options.seed;
  rmsnorm_device *device = nullptr;
  if (rmsnorm_device_open(options.backend, &deviceOptions, &device))
    error = "--device=" + options.deviceText + ": " + rmsnorm_last_error();
  return device;
}

rmsnorm_module *openModule(const std::string &input, rmsnorm_device *device,
                           const Options &options,
                           const std::vector<std::string> &compileOptions,
                           std::string &error) {
  std::string path = input;
  if (endsWith(input, ".mlir")) {
    std::string target = options.target;
    rmsnorm_device_info info;
    if (target.empty() && options.backend == RMSNORM_SIM)
      target = "sim";
    else if (target.empty() && !rmsnorm_device_get_info(device, &info))
      target = info.chip;
    path = compileModule(input, target, compileOptions, error);
    if (path.empty())
      return nullptr;
  } else if (!options.schedule.empty()) {
    error = input + ": --schedule is for .mlir files; a compiled module has "
                    "its schedules";
    return nullptr;
  } else if (!options.hostOptimization.empty()) {
    error = input + ": --host-optimization is for .mlir files; a compiled "
                    "module has its code";
    return nullptr;
  }
  rmsnorm_module *module = nullptr;
  if (rmsnorm_module_open_file(path.c_str(), &module))
    error = rmsnorm_last_error();
  if (path != input)
    unlink(path.c_str());
  return module;
}

} // namespace trial
