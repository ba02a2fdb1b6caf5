// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Layout.cpp - how a row lies on the threads of a block -------------===//

#include "RMSNorm/Schedule/Layout.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

SmallVector<ColumnDigit, 3> mlir::rmsnorm::getColumnDigits(int64_t columns,
                                                           int64_t part,
                                                           bool hasPairs,
                                                           int64_t whole) {
  if (part == 0)
    return {{columns}};
  if (whole == 0)
    whole = columns;
  SmallVector<ColumnDigit, 3> digits;
  auto add = [&](int64_t size, bool isHeld) {
    if (size > 1)
      digits.push_back({size, isHeld});
  };
  add(columns / whole, /*isHeld=*/false);
  add(whole / part, /*isHeld=*/true);
  add(hasPairs ? part / 2 : part, /*isHeld=*/false);
  add(hasPairs ? 2 : 1, /*isHeld=*/true);
  return digits;
}

Layout::Layout(const ScheduleFields &schedule, ArrayRef<ColumnDigit> shared,
               bool dynamicColumns, int64_t subgroupSize)
    : schedule(schedule), columns(1), dynamicColumns(dynamicColumns),
      whole(shared.size() == 1 && !shared.front().isHeld),
      subgroupSize(subgroupSize) {
  for (const ColumnDigit &digit : shared)
    columns *= digit.size;
  shareOut(shared);
}

/// Vectors take indices from the innermost digit on; then threads do, of the
/// digits that are not held; the rest are registers. Of the outermost digit
/// that threads share they take what is left of them. Of inner ones each takes
/// a vector: of a number that is no power of two some have none.
void Layout::shareOut(ArrayRef<ColumnDigit> shared) {
  if (whole) {
    const int64_t part = getPart();
    digits = {{part, 1, getVectorWidth(), getThreadsPerRow(),
               int64_t(llvm::divideCeil(part, getColumnStep()))}};
    return;
  }
  SmallVector<DigitLayout, 3> all;
  int64_t width = getVectorWidth(), stride = 1;
  for (const ColumnDigit &digit : llvm::reverse(shared)) {
    DigitLayout one = {digit.size, stride};
    stride *= digit.size;
    // What is taken of a held digit is no part of a vector, but for that of the
    // innermost one, and no vector goes on after it.
    if (digit.isHeld && !all.empty() && width > 1)
      return;
    if (!digit.isHeld || all.empty()) {
      one.vector = std::min(width, digit.size);
      if (digit.size % one.vector != 0 || width % one.vector != 0)
        return;
      width /= one.vector;
    }
    all.push_back(one);
  }
  if (width > 1)
    return;
  int64_t threads = getThreadsPerRow();
  DigitLayout *last = nullptr;
  for (auto [digit, one] : llvm::zip(llvm::reverse(shared), all)) {
    if (digit.isHeld)
      continue;
    last = &one;
    one.threads =
        std::min<int64_t>(llvm::PowerOf2Ceil(one.size / one.vector), threads);
    if (threads % one.threads != 0)
      return;
    threads /= one.threads;
  }
  if (last)
    last->threads *= threads;
  else if (threads > 1)
    return;
  for (DigitLayout &one : all)
    one.registers = llvm::divideCeil(one.size, one.getStep());
  digits.assign(all.rbegin(), all.rend());
}

int64_t Layout::getThread(int64_t thread, int64_t digit) const {
  for (const DigitLayout &inner : ArrayRef(digits).drop_front(digit + 1))
    thread /= inner.threads;
  return thread % digits[digit].threads;
}

int64_t Layout::getRegister(int64_t vector, int64_t digit) const {
  for (const DigitLayout &inner : ArrayRef(digits).drop_front(digit + 1))
    vector /= inner.registers;
  // In a loop they are counted from its trip's first one.
  return digit == 0 ? vector : vector % digits[digit].registers;
}

int64_t Layout::getThreadColumn(int64_t thread) const {
  int64_t column = 0;
  for (auto [number, digit] : llvm::enumerate(digits))
    column += getThread(thread, number) * digit.vector * digit.stride;
  return column;
}

int64_t Layout::getVectorColumn(int64_t vector) const {
  int64_t column = 0;
  for (auto [number, digit] : llvm::enumerate(digits))
    column += getRegister(vector, number) * digit.getStep() * digit.stride;
  return column;
}

int64_t Layout::countRowVectors() const {
  int64_t count = digits.empty() ? 0 : 1;
  for (const DigitLayout &digit : digits)
    count *= digit.registers;
  return count;
}

bool Layout::isFull(int64_t vector) const {
  if (dynamicColumns)
    return false;
  // The last rank has the rest of a row.
  const int64_t missing = schedule.cluster * getPart() - columns;
  for (auto [number, digit] : llvm::enumerate(digits))
    if ((getRegister(vector, number) + 1) * digit.getStep() >
        digit.size - missing)
      return false;
  return true;
}

bool Layout::isInOrder() const {
  if (whole)
    return true;
  if (hasPadding())
    return false;
  int64_t next = getVectorWidth();
  for (const DigitLayout &digit : llvm::reverse(digits)) {
    if (digit.threads > 1 && digit.vector * digit.stride != next)
      return false;
    next *= digit.threads;
  }
  for (const DigitLayout &digit : llvm::reverse(digits)) {
    if (digit.registers > 1 && digit.getStep() * digit.stride != next)
      return false;
    next *= digit.registers;
  }
  return true;
}

int64_t Layout::getNumFullVectors() const {
  if (dynamicColumns)
    return 0;
  const int64_t lastPart = columns - (schedule.cluster - 1) * getPart();
  return std::max<int64_t>(0, lastPart) / getColumnStep();
}

int64_t Layout::getAccessBytes(int64_t elementBytes, bool partial,
                               bool packed) const {
  int64_t bytes =
      std::min(schedule.alignment, schedule.vectorWidth * elementBytes);
  if (!dynamicColumns && partial)
    bytes =
        std::min(bytes, std::gcd(schedule.vectorWidth, columns) * elementBytes);
  if (!dynamicColumns && packed)
    bytes =
        std::min(bytes, std::gcd(schedule.alignment, columns * elementBytes));
  return std::max(bytes, elementBytes);
}

int64_t Layout::getGroupThreads(int64_t group) const {
  if (getPart() % group != 0)
    return 0;
  // Of each digit, from the innermost on, a group has all or some neighbours.
  int64_t rest = group, threads = 1;
  for (const DigitLayout &digit : llvm::reverse(digits)) {
    const int64_t width = digit.vector;
    if (!whole && rest % digit.size == 0) {
      threads *= digit.threads;
      rest /= digit.size;
      continue;
    }
    const bool isRegister =
        !whole && digit.threads == 1 && (width == 1 || digit.registers == 1);
    const bool isInVector = width % rest == 0 && digit.size % width == 0;
    if (!isRegister && !isInVector) {
      if (rest % width != 0)
        return 0;
      threads *= rest / width;
      if (!whole && digit.threads % (rest / width) != 0)
        return 0;
    }
    if (!whole && digit.size % rest != 0)
      return 0;
    break;
  }
  return llvm::isPowerOf2_64(threads) && getSubgroupThreads() % threads == 0
             ? threads
             : 0;
}

bool mlir::rmsnorm::isWalkedInLoop(const ScheduleFields &schedule,
                                   int64_t columns, bool dynamicColumns) {
  const Layout layout(schedule, ColumnDigit{columns}, /*dynamicColumns=*/false,
                      /*subgroupSize=*/1);
  return dynamicColumns || (layout.getNumFullVectors() > schedule.unrolled &&
                            layout.getNumVectors() != schedule.vectorsInFlight);
}
