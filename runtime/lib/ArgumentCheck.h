//===- ArgumentCheck.h - tensors against an entry's arguments -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_ARGUMENTCHECK_H
#define RMSNORM_RUNTIME_ARGUMENTCHECK_H

#include "Module.h"
#include "Overlap.h"
#include "SizeRules.h"

#include <vector>

namespace rmsnorm::runtime {

constexpr unsigned kMaxSlots = rmsn::kMaxArguments * rmsn::kMaxRank;

/// The conditions on one argument, in a form that is quick to check.
struct ArgumentRule {
  const char *name;
  DLDataType dtype;
  uint8_t rank;
  rmsn::Role role;
  bool innerContiguous;
  bool dense;
  bool nonemptyRows;  // the last dimension must not be 0
  int64_t maxColumns; // and not above this
  bool constant;      // not written by earlier work on the stream
  uint16_t slot;      // of dimension 0 in Values
  uint32_t alignment; // bytes, at least the element's
  int64_t dims[rmsn::kMaxRank];
};

/// The places of tensors that a device takes as its own.
struct DevicePlace {
  DLDevice device;
  bool managed = false; // CUDA managed memory of any device will do as well
};

/// The values that a launch's expressions and parameters are computed from.
/// Lives on the stack of a launch; only the entry's own slots are ever written
/// or read.
struct Values {
  int64_t sizes[kMaxSlots];
  int64_t strides[kMaxSlots]; // in elements
  uint64_t addresses[rmsn::kMaxArguments];
  /// Bytes from the first to the end of the last element, 0 when there is none.
  uint64_t extents[rmsn::kMaxArguments];
};

class ArgumentRules {
public:
  /// `ofIntervals`: the oracle's, whose elements are intervals.
  explicit ArgumentRules(const rmsn::Entry &entry, bool ofIntervals = false);

  enum class Mode {
    Launch,
    Shapes, // only data type, rank, sizes, strides; no addresses, no device
  };

  /// Checks and reads `arguments` into `values`. No allocation on success.
  rmsnorm_status check(DLTensor *const *arguments, size_t count,
                       const DevicePlace &place, Mode mode,
                       Values &values) const;

  /// That no argument, checked into `values` for a launch, has bytes of the
  /// workspace.
  rmsnorm_status checkWorkspace(uint64_t workspace, uint64_t bytes,
                                const Values &values) const;

  size_t size() const { return rules.size(); }
  const ArgumentRule &operator[](size_t index) const { return rules[index]; }
  /// Slot of dimension 0, per argument.
  const std::vector<uint16_t> &slots() const { return firstSlots; }

private:
  rmsnorm_status checkShape(size_t index, const DLTensor &tensor,
                            uint64_t &boundSymbols, int64_t *symbols,
                            Values &values) const;
  rmsnorm_status checkAddress(size_t index, const DLTensor &tensor,
                              const DevicePlace &place, Values &values) const;
  Footprint footprint(size_t index, const Values &values) const;
  rmsnorm_status wrongSymbol(size_t index, unsigned dimension, int64_t expected,
                             int64_t got) const;

  const char *entryName;
  std::vector<ArgumentRule> rules;
  std::vector<uint16_t> firstSlots;
  SizeRules sizeRules;
};

/// "cuda:0", "cpu:0", for messages.
std::string placeName(DLDevice device);

} // namespace rmsnorm::runtime

#endif // RMSNORM_RUNTIME_ARGUMENTCHECK_H
