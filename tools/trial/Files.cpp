// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Files.cpp - reads and writes files --------------------------------===//

#include "Files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace trial {

bool readFile(const std::string &path, std::string &text) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return false;
  text.clear();
  char buffer[4096];
  size_t length;
  // Ours are a few hundred kilobytes at most.
  while (text.size() < (16u << 20) &&
         (length = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    text.append(buffer, length);
  std::fclose(file);
  return true;
}

std::string writeFile(const std::string &path, const std::string &text) {
  const std::string temporary = path + ".tmp";
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  bool good =
      file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file)
    good &= std::fclose(file) == 0;
  good = good && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (good)
    return "";
  std::string why = std::strerror(errno);
  if (file)
    unlink(temporary.c_str());
  return "cannot write " + path + ": " + why;
}

bool isSameFile(const std::string &a, const std::string &b) {
  struct stat one, other;
  return !stat(a.c_str(), &one) && !stat(b.c_str(), &other) &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool flushOutput(std::string &error) {
  if (!std::fflush(stdout) && !std::ferror(stdout))
    return true;
  error = "cannot write to the standard output";
  return false;
}

} // namespace trial
