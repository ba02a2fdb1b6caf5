//===- ContentHash.h - hash of a module file ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the writer (lib/Module/ModuleWriter) and the runtime; header only.

#ifndef RMSN_FORMAT_CONTENTHASH_H
#define RMSN_FORMAT_CONTENTHASH_H

#include "module_generated.h"

#include <cstdint>
#include <cstring>

namespace rmsn {

/// Hashes `size` bytes, taking the 16 bytes at `hashOffset` (the ContentHash
/// itself) as zero. Two multiply-rotate lanes over little-endian words: fast,
/// the same on every host, and not meant to withstand an attacker.
inline ContentHash computeContentHash(const uint8_t *bytes, size_t size,
                                      size_t hashOffset) {
  auto byteAt = [&](size_t i) -> uint64_t {
    return i - hashOffset < sizeof(ContentHash) ? 0 : bytes[i];
  };
  auto wordAt = [&](size_t i) {
    uint64_t word = 0;
    // Words that touch the hash field or the end are gathered bytewise.
    bool whole = i + 8 <= size &&
                 (i + 8 <= hashOffset || i >= hashOffset + sizeof(ContentHash));
    if (whole) {
      std::memcpy(&word, bytes + i, 8);
      return flatbuffers::EndianScalar(word);
    }
    for (size_t b = 0; b < 8 && i + b < size; ++b)
      word |= byteAt(i + b) << (8 * b);
    return word;
  };
  auto rotate = [](uint64_t v, int n) { return v << n | v >> (64 - n); };
  auto finish = [](uint64_t v) {
    v = (v ^ v >> 33) * 0xff51afd7ed558ccdull;
    v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53ull;
    return v ^ v >> 33;
  };
  uint64_t low = 0x9e3779b97f4a7c15ull, high = 0xc2b2ae3d27d4eb4full;
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = wordAt(i);
    low = rotate(low ^ word * 0x87c37b91114253d5ull, 27) * 5 + 0x52dce729;
    high = rotate(high ^ word * 0x4cf5ad432745937full, 31) * 5 + 0x38495ab5;
  }
  low = finish(low ^ size);
  high = finish(high + low);
  return ContentHash(low + high, high);
}

/// Fills in the hash of a finished buffer. The writer must have set
/// `content_hash` to some value, so that its 16 bytes exist.
inline void stampContentHash(uint8_t *bytes, size_t size) {
  auto *hash = const_cast<ContentHash *>(GetModule(bytes)->content_hash());
  size_t offset = reinterpret_cast<uint8_t *>(hash) - bytes;
  *hash = computeContentHash(bytes, size, offset);
}

} // namespace rmsn

#endif // RMSN_FORMAT_CONTENTHASH_H
