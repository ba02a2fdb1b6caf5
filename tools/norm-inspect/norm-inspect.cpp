// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-inspect.cpp - prints what a compiled module holds ------------===//

#include "rmsnorm/rmsnorm.h"

#include <cstdio>
#include <cstring>

int main(int argc, char **argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--version")) {
    std::printf("norm-inspect %s\n", rmsnorm_version());
    return 0;
  }
  if (argc != 2 || argv[1][0] == '-') {
    std::fputs("usage: norm-inspect FILE.rmsn | --version\n\n"
               "Prints the entries of a compiled module, their arguments and "
               "error bounds, the\nvariants for each target with guards, "
               "schedules and launches, and the images.\n",
               stderr);
    return argc == 2 && !std::strcmp(argv[1], "--help") ? 0 : 2;
  }
  rmsnorm_module *module = nullptr;
  char *text = nullptr;
  if (rmsnorm_module_open_file(argv[1], &module) ||
      rmsnorm_module_describe(module, &text)) {
    std::fprintf(stderr, "norm-inspect: error: %s\n", rmsnorm_last_error());
    rmsnorm_module_close(module);
    return 1;
  }
  std::fputs(text, stdout);
  rmsnorm_free(text);
  rmsnorm_module_close(module);
  if (std::fflush(stdout) || std::ferror(stdout)) {
    std::fputs("norm-inspect: error: cannot write to the standard output\n",
               stderr);
    return 1;
  }
  return 0;
}
