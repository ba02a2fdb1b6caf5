// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - has norm-compile make a module of a .mlir file ------===//

#include "Compile.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace norm_run {

/// The folder this program is in, with a slash; "" if the system won't say.
static std::string getProgramFolder() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0)
    return "";
  std::string text(path, size_t(length));
  return text.substr(0, text.rfind('/') + 1);
}

std::string compileModule(const std::string &input, const std::string &target,
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

} // namespace norm_run
