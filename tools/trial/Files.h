// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Files.h - reads and writes files ----------------------------------===//

#ifndef TRIAL_FILES_H
#define TRIAL_FILES_H

#include <string>

namespace trial {

/// Reads a file of ours, up to 16 MiB. False, with the reason in errno, if it
/// cannot be opened.
bool readFile(const std::string &path, std::string &text);

/// Writes a regular file through a temporary one beside it: all of it or
/// nothing. Returns "" or why it cannot.
std::string writeFile(const std::string &path, const std::string &text);

/// Whether both are names of one file that is there.
bool isSameFile(const std::string &a, const std::string &b);

/// Whether all that was printed has been written.
bool flushOutput(std::string &error);

} // namespace trial

#endif // TRIAL_FILES_H
