// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Workgroup.h - the workgroup memory of a block ---------------------===//

#ifndef RMSNORM_SIM_WORKGROUP_H
#define RMSNORM_SIM_WORKGROUP_H

#include "Exchange.h"
#include "Shadow.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace rmsnorm::sim {

/// Memory aligned for vectors; null when there is none.
char *allocateAligned(uint64_t bytes);
struct FreeDeleter {
  void operator()(void *memory) const { std::free(memory); }
};

/// The bytes, the accesses of threads to them, and the asynchronous copies that
/// are under way. Functions that return text return an error, or "".
class Workgroup {
public:
  /// `exchange` has memory of its own in it.
  Workgroup(int32_t bytes, int32_t threads, const Exchange &exchange);

  bool isValid() const { return memory != nullptr; }
  void beginBlock();
  void passBarrier() { shadow.advance(); }
  const Shadow::Uninitialised &getUninitialised() const {
    return shadow.getUninitialised();
  }

  /// Sets `address` to where a thread may read or write.
  std::string access(int32_t thread, int32_t offset, int32_t bytes,
                     bool isStore, void *&address);

  /// Begins to copy `valid` bytes, and zeros after them.
  std::string copy(int32_t thread, int32_t offset, int32_t bytes,
                   const void *source, int32_t valid);
  /// Makes the copies of a thread since its last commit a group.
  void commit(int32_t thread) { ++copies[thread].commits; }
  /// Lets all but the last `pending` groups of a thread land.
  std::string wait(int32_t thread, int32_t pending);

private:
  /// Of the widest fragment: 64 elements of 8 bytes.
  static constexpr int32_t kMaxCopyBytes = 512;
  struct Copy {
    int64_t group; // the number of its commit
    int32_t offset, bytes, valid;
    const char *source;
    char began[kMaxCopyBytes]; // what the source was when it began
  };
  struct Copies {
    int64_t commits = 0;
    std::vector<Copy> underWay; // oldest first
  };

  std::string checkRange(const char *verb, int32_t offset, int32_t bytes) const;
  std::string land(int32_t thread, const Copy &copy);

  const Exchange &exchange;
  std::unique_ptr<char, FreeDeleter> memory;
  Shadow shadow;
  std::vector<Copies> copies; // of each thread
};

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_WORKGROUP_H
