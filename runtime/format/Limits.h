//===- Limits.h - how much a module may hold ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of module.fbs, for the writer (lib/Module), which refuses what is
// more with the place in the source, and for the runtime, which trusts no
// writer; header only.

#ifndef RMSN_FORMAT_LIMITS_H
#define RMSN_FORMAT_LIMITS_H

namespace rmsn {

constexpr unsigned kMaxArguments = 64;
constexpr unsigned kMaxRank = 8;
constexpr unsigned kMaxSymbols = 64;
constexpr unsigned kMaxSizeRules = 256;
constexpr unsigned kMaxVariants = 1024;
constexpr unsigned kMaxGuards = 128;
constexpr unsigned kMaxLaunches = 64;
constexpr unsigned kMaxParameters = 128;
constexpr unsigned kMaxBlocksPerMultiprocessor = 64;
constexpr unsigned kMaxExpressionOps = 256;
constexpr unsigned kMaxExpressionStack = 32;
constexpr unsigned kMaxNameBytes = 1024;
// Kernels are named after their entry, and then some.
constexpr unsigned kMaxSymbolBytes = 2 * kMaxNameBytes;
constexpr unsigned kMaxProseBytes = 65536; // schedules of 64 launches fit
constexpr unsigned kWorkspaceAlignment = 256;

/// Whether a name may have this byte: no control characters.
constexpr bool isPrintable(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
}

} // namespace rmsn

#endif // RMSN_FORMAT_LIMITS_H
