//===- ArgumentCheck.cpp - tensors against an entry's arguments -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArgumentCheck.h"

#include <algorithm>
#include <cinttypes>

using namespace rmsnorm::runtime;

ArgumentRules::ArgumentRules(const rmsn::Entry &entry, bool ofIntervals)
    : entryName(entry.name()->c_str()), firstSlots(slotsOf(entry)),
      sizeRules(entry, firstSlots) {
  for (const rmsn::Argument *argument : *entry.arguments()) {
    ArgumentRule rule = {};
    rule.name = argument->name()->c_str();
    rule.dtype = dlDataType(argument->dtype());
    rule.rank = argument->dims() ? argument->dims()->size() : 0;
    rule.role = argument->role();
    rule.innerContiguous = argument->inner_contiguous();
    rule.dense = argument->dense();
    rule.constant = argument->constant();
    rule.nonemptyRows = argument->nonempty_rows();
    rule.maxColumns =
        argument->max_columns() ? argument->max_columns() : INT64_MAX;
    rule.slot = firstSlots[rules.size()];
    rule.alignment =
        std::max<uint32_t>(argument->alignment(), (rule.dtype.bits + 7) / 8);
    if (ofIntervals) {
      rule.dtype = {RMSNORM_DL_COMPLEX, 128, 1};
      rule.alignment = alignof(double);
    }
    for (unsigned d = 0; d < rule.rank; ++d)
      rule.dims[d] = argument->dims()->Get(d);
    rules.push_back(rule);
  }
}

std::string rmsnorm::runtime::placeName(DLDevice device) {
  switch (int(device.device_type)) {
  case kDLCPU:
    return "cpu";
  case kDLCUDA:
    return formatted("cuda:%d", device.device_id);
  case kDLROCM:
    return formatted("rocm:%d", device.device_id);
  case kDLCUDAManaged:
    return "cuda managed memory";
  }
  return formatted("DLPack device type %d", int(device.device_type));
}

rmsnorm_status ArgumentRules::wrongSymbol(size_t index, unsigned dimension,
                                          int64_t expected, int64_t got) const {
  // The first place where the symbol stands is the one that bound it.
  int64_t symbol = rules[index].dims[dimension];
  for (const ArgumentRule &rule : rules)
    for (unsigned d = 0; d < rule.rank; ++d)
      if (rule.dims[d] == symbol)
        return fail(
            RMSNORM_INVALID_ARGUMENT,
            "argument '%s': expected size %" PRId64
            " in dimension %u, as in dimension %u of '%s', got %" PRId64,
            rules[index].name, expected, dimension, d, rule.name, got);
  return RMSNORM_INVALID_ARGUMENT; // not reached
}

inline rmsnorm_status ArgumentRules::checkShape(size_t index,
                                                const DLTensor &tensor,
                                                uint64_t &boundSymbols,
                                                int64_t *symbols,
                                                Values &values) const {
  const ArgumentRule &rule = rules[index];
  if (tensor.dtype.code != rule.dtype.code ||
      tensor.dtype.bits != rule.dtype.bits || tensor.dtype.lanes != 1)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "argument '%s': expected data type %s, got %s", rule.name,
                dlDataTypeName(rule.dtype).c_str(),
                dlDataTypeName(tensor.dtype).c_str());
  if (tensor.ndim != rule.rank)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "argument '%s': expected rank %u, got %d", rule.name, rule.rank,
                tensor.ndim);
  if (rule.rank && !tensor.shape)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "argument '%s': expected a shape, got a null pointer",
                rule.name);

  int64_t *sizes = values.sizes + rule.slot;
  int64_t *strides = values.strides + rule.slot;
  int64_t count = 1;  // elements
  int64_t packed = 1; // stride a packed tensor has; 0-sized dimensions as 1
  int64_t last = 0;   // element offset of the last element
  bool overflow = false;
  const bool isEmpty =
      std::count(tensor.shape, tensor.shape + rule.rank, 0) != 0;
  for (int d = rule.rank - 1; d >= 0; --d) {
    int64_t size = tensor.shape[d], expected = rule.dims[d];
    if (size < 0)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected a size >= 0 in dimension %d, got "
                  "%" PRId64,
                  rule.name, d, size);
    if (expected >= 0 && size != expected)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected size %" PRId64
                  " in dimension %d, got %" PRId64,
                  rule.name, expected, d, size);
    if (rule.nonemptyRows && size == 0 && d == rule.rank - 1)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected at least one column, got size 0 in "
                  "dimension %d",
                  rule.name, d);
    if (size > rule.maxColumns && d == rule.rank - 1)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected at most %" PRId64
                  " columns, got size %" PRId64 " in dimension %d",
                  rule.name, rule.maxColumns, size, d);
    int64_t stride = tensor.strides ? tensor.strides[d] : packed;
    // The stride of a dimension of size 1 is never used, nor is any without an
    // element, and frameworks put anything there; the packed one keeps guards
    // from failing over it.
    if (size == 1 || isEmpty)
      stride = packed;
    if (stride < 0)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected a stride >= 0 in dimension %d, got "
                  "%" PRId64,
                  rule.name, d, stride);
    if (rule.innerContiguous && d == rule.rank - 1 && stride != 1)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected stride 1 in dimension %d, the last, "
                  "got %" PRId64,
                  rule.name, d, stride);
    if (rule.dense && stride != packed)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected a packed tensor, with stride "
                  "%" PRId64 " in dimension %d, got %" PRId64,
                  rule.name, packed, d, stride);
    // Two numbers a byte: no other row may begin in the middle of one.
    const bool isLast = d == rule.rank - 1;
    if (rule.dtype.bits == 4 && (isLast ? size : stride) % 2 != 0)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected an even %s in dimension %d, as two "
                  "numbers are a byte, got %" PRId64,
                  rule.name, isLast ? "size" : "stride", d,
                  isLast ? size : stride);
    sizes[d] = size;
    strides[d] = stride;
    int64_t reach;
    overflow |= __builtin_mul_overflow(count, size, &count);
    overflow |=
        __builtin_mul_overflow(packed, std::max<int64_t>(size, 1), &packed);
    overflow |=
        __builtin_mul_overflow(std::max<int64_t>(size - 1, 0), stride, &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  // Symbols in order of dimensions, so that a message names the first place.
  for (int d = 0; d < rule.rank; ++d) {
    if (rule.dims[d] >= 0)
      continue;
    unsigned symbol = -1 - rule.dims[d];
    if (!(boundSymbols >> symbol & 1)) {
      boundSymbols |= uint64_t(1) << symbol;
      symbols[symbol] = sizes[d];
    } else if (symbols[symbol] != sizes[d]) {
      return wrongSymbol(index, d, symbols[symbol], sizes[d]);
    }
  }
  int64_t bytes;
  overflow |= last == INT64_MAX;
  const int64_t perByte = rule.dtype.bits == 4 ? 2 : 1;
  overflow |= __builtin_mul_overflow(overflow ? 0 : last / perByte + 1,
                                     (rule.dtype.bits + 7) / 8, &bytes);
  if (overflow)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "argument '%s': expected fewer than 2^63 bytes from its first "
                "to its last element, got sizes and strides that reach "
                "further",
                rule.name);
  // More elements than places: two of them share one, and a write races.
  if (rule.role != rmsn::Role::Input && count > last + 1)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "argument '%s': expected an output without overlapping "
                "elements, got %" PRId64 " elements on %" PRId64
                " places (stride 0?)",
                rule.name, count, last + 1);
  values.extents[index] = count == 0 ? 0 : bytes;
  return RMSNORM_OK;
}

/// Whether two ranges of bytes meet: all there is to see for most calls. That
/// tensors share elements is another matter, since slices of one buffer
/// interleave, such as the columns of q and of k. An empty range may meet
/// another one.
static bool rangesMeet(uint64_t a, uint64_t bytesOfA, uint64_t b,
                       uint64_t bytesOfB) {
  return b - a < bytesOfA || a - b < bytesOfB;
}

inline rmsnorm_status ArgumentRules::checkAddress(size_t index,
                                                  const DLTensor &tensor,
                                                  const DevicePlace &place,
                                                  Values &values) const {
  const ArgumentRule &rule = rules[index];
  bool here = tensor.device.device_type == place.device.device_type &&
              tensor.device.device_id == place.device.device_id;
  if (!here && !(place.managed && tensor.device.device_type == kDLCUDAManaged))
    return fail(RMSNORM_INVALID_ARGUMENT,
                "argument '%s': expected a tensor on %s, got one on %s",
                rule.name, placeName(place.device).c_str(),
                placeName(tensor.device).c_str());
  uint64_t address =
      reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
  values.addresses[index] = address;
  // A tensor without elements may point anywhere: nothing touches it.
  if (values.extents[index] == 0)
    return RMSNORM_OK;
  if (!tensor.data)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "argument '%s': expected data, got a null pointer", rule.name);
  if (address & (rule.alignment - 1))
    return fail(RMSNORM_INVALID_ARGUMENT,
                "argument '%s': expected an address aligned to %u bytes, got "
                "0x%" PRIx64,
                rule.name, rule.alignment, address);
  // Kernels rely on it that an output shares no memory with another argument.
  for (size_t other = 0; other < index; ++other)
    if (rangesMeet(values.addresses[other], values.extents[other], address,
                   values.extents[index]) &&
        (rule.role != rmsn::Role::Input ||
         rules[other].role != rmsn::Role::Input) &&
        values.extents[other] != 0 &&
        shareBytes(footprint(other, values), footprint(index, values)))
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected memory of its own, got some of that "
                  "of '%s', and one of them is written",
                  rule.name, rules[other].name);
  return RMSNORM_OK;
}

Footprint ArgumentRules::footprint(size_t index, const Values &values) const {
  const ArgumentRule &rule = rules[index];
  const int64_t *sizes = values.sizes + rule.slot;
  const int64_t *strides = values.strides + rule.slot;
  if (rule.dtype.bits != 4)
    return Footprint(values.addresses[index], rule.dtype.bits / 8, rule.rank,
                     sizes, strides);
  // In bytes of two.
  int64_t halves[2][rmsn::kMaxRank];
  for (unsigned d = 0; d < rule.rank; ++d) {
    const bool isLast = d + 1 == rule.rank;
    halves[0][d] = isLast ? sizes[d] / 2 : sizes[d];
    halves[1][d] = isLast ? strides[d] : strides[d] / 2;
  }
  return Footprint(values.addresses[index], 1, rule.rank, halves[0], halves[1]);
}

rmsnorm_status ArgumentRules::checkWorkspace(uint64_t workspace, uint64_t bytes,
                                             const Values &values) const {
  for (size_t i = 0; i < rules.size(); ++i)
    if (rangesMeet(values.addresses[i], values.extents[i], workspace, bytes) &&
        values.extents[i] != 0 &&
        shareBytes(Footprint(workspace, int64_t(bytes)), footprint(i, values)))
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "expected a workspace of its own memory, got some of that of "
                  "argument '%s'",
                  rules[i].name);
  return RMSNORM_OK;
}

rmsnorm_status ArgumentRules::check(DLTensor *const *arguments, size_t count,
                                    const DevicePlace &place, Mode mode,
                                    Values &values) const {
  if (count != rules.size() || !arguments) {
    std::string names;
    for (const ArgumentRule &rule : rules)
      names += (names.empty() ? "" : ", ") + std::string(rule.name);
    if (count != rules.size())
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "entry '%s': expected %zu arguments (%s), got %zu", entryName,
                  rules.size(), names.c_str(), count);
    return fail(RMSNORM_INVALID_ARGUMENT,
                "entry '%s': expected %zu arguments (%s), got a null array",
                entryName, rules.size(), names.c_str());
  }
  int64_t symbols[rmsn::kMaxSymbols];
  uint64_t boundSymbols = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!arguments[i])
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "argument '%s': expected a tensor, got a null pointer",
                  rules[i].name);
    RMSNORM_TRY(checkShape(i, *arguments[i], boundSymbols, symbols, values));
    if (mode == Mode::Launch)
      RMSNORM_TRY(checkAddress(i, *arguments[i], place, values));
  }
  return sizeRules.check(values.sizes);
}
