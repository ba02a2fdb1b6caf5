// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Workgroup.cpp - the workgroup memory of a block -------------------===//

#include "Workgroup.h"

#include <cstring>

using namespace rmsnorm::sim;

char *rmsnorm::sim::allocateAligned(uint64_t bytes) {
  constexpr uint64_t alignment = 64;
  uint64_t rounded = (bytes + alignment - 1) & ~(alignment - 1);
  return static_cast<char *>(
      std::aligned_alloc(alignment, rounded ? rounded : alignment));
}

Workgroup::Workgroup(int32_t bytes, int32_t threads, const Exchange &exchange)
    : exchange(exchange), memory(allocateAligned(uint64_t(bytes))),
      shadow(bytes), copies(threads) {}

void Workgroup::beginBlock() {
  shadow.beginBlock();
  for (Copies &ofThread : copies) {
    ofThread.commits = 0;
    ofThread.underWay.clear();
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static std::string describe(const char *verb, int32_t offset, int32_t bytes) {
  return std::string("workgroup memory: ") + verb + " of " +
         std::to_string(bytes) + " bytes at offset " + std::to_string(offset);
}

std::string Workgroup::checkRange(const char *verb, int32_t offset,
                                  int32_t bytes) const {
  if (offset < 0 || offset > shadow.size() - bytes)
    return describe(verb, offset, bytes) + " is out of bounds of the block's " +
           std::to_string(shadow.size()) + " bytes";
  if (offset % bytes != 0)
    return describe(verb, offset, bytes) + " is misaligned";
  if (exchange.owns(offset, bytes))
    return describe(verb, offset, bytes) + " is in the memory of the exchange";
  return {};
}

/// The error of a thread's access.
static std::string describe(const Shadow::Result &result, const char *verb,
                            int32_t offset, int32_t bytes) {
  if (result.underWay)
    return describe(verb, offset, bytes) +
           " while an asynchronous copy to it is under way";
  return describe(verb, offset, bytes) + " races with a " +
         (result.wasStore ? "write" : "read") + " by thread " +
         std::to_string(result.thread) + ": no barrier between them";
}

std::string Workgroup::access(int32_t thread, int32_t offset, int32_t bytes,
                              bool isStore, void *&address) {
  const char *verb = isStore ? "write" : "read";
  if (std::string wrong = checkRange(verb, offset, bytes); !wrong.empty())
    return wrong;
  Shadow::Result result =
      shadow.access(thread, offset, bytes,
                    isStore ? Shadow::Access::Store : Shadow::Access::Load);
  if (result.isWrong())
    return describe(result, verb, offset, bytes);
  address = memory.get() + offset;
  if (result.uninitialised) // NaN, and an index that is out of every bounds.
    std::memset(address, 0xff, size_t(bytes));
  return {};
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

static const char copyVerb[] = "asynchronous copy";

std::string Workgroup::copy(int32_t thread, int32_t offset, int32_t bytes,
                            const void *source, int32_t valid) {
  if (std::string wrong = checkRange(copyVerb, offset, bytes); !wrong.empty())
    return wrong;
  Shadow::Result result =
      shadow.access(thread, offset, bytes, Shadow::Access::BeginCopy);
  if (result.isWrong())
    return describe(result, copyVerb, offset, bytes);
  Copy &copy = copies[thread].underWay.emplace_back();
  copy.group = copies[thread].commits;
  copy.offset = offset;
  copy.bytes = bytes;
  copy.valid = valid;
  copy.source = static_cast<const char *>(source);
  std::memcpy(copy.began, source, size_t(valid));
  // A read before the copy lands must not find the copied bytes.
  std::memset(memory.get() + offset, 0xff, size_t(bytes));
  return {};
}

std::string Workgroup::land(int32_t thread, const Copy &copy) {
  Shadow::Result result =
      shadow.access(thread, copy.offset, copy.bytes, Shadow::Access::LandCopy);
  if (result.isWrong())
    return describe(result, copyVerb, copy.offset, copy.bytes);
  if (std::memcmp(copy.began, copy.source, size_t(copy.valid)) != 0)
    return describe(copyVerb, copy.offset, copy.bytes) +
           ": its source is written while it is under way";
  char *target = memory.get() + copy.offset;
  std::memcpy(target, copy.source, size_t(copy.valid));
  std::memset(target + copy.valid, 0, size_t(copy.bytes - copy.valid));
  return {};
}

std::string Workgroup::wait(int32_t thread, int32_t pending) {
  Copies &own = copies[thread];
  auto copy = own.underWay.begin();
  for (; copy != own.underWay.end() && copy->group < own.commits - pending;
       ++copy)
    if (std::string wrong = land(thread, *copy); !wrong.empty())
      return wrong;
  own.underWay.erase(own.underWay.begin(), copy);
  return {};
}
