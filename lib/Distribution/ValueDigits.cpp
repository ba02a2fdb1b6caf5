// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ValueDigits.cpp - what a thread has of a value's digits -----------===//

#include "ValueDigits.h"

#include "RMSNorm/IR/TileTypes.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// The runs of a value that has `own` indices of the digits `sizes`, the
/// innermost first.
static SmallVector<ValueDigits::Run, 2> getRuns(ArrayRef<int64_t> sizes,
                                                ArrayRef<int64_t> own) {
  SmallVector<ValueDigits::Run, 2> runs;
  int64_t stride = 1, ownStride = 1;
  bool continues = false;
  for (auto [size, count] : llvm::reverse(llvm::zip_equal(sizes, own))) {
    if (count == size && continues)
      runs.back().size *= size;
    else if (count == size)
      runs.push_back({stride, size, ownStride});
    continues = count == size;
    stride *= size;
    ownStride *= count;
  }
  return runs;
}

ValueDigits::ValueDigits(const Layout &layout, ArrayRef<int64_t> sizes,
                         VectorType type, ArrayRef<int64_t> begins)
    : layout(layout) {
  const ArrayRef<int64_t> own = getColumnShape(type);
  const bool isWhole = layout.isWhole();
  size_t end = sizes.size();
  int64_t ownStride = 1;
  for (const DigitLayout &shared : llvm::reverse(layout.getDigits())) {
    size_t begin = end;
    for (int64_t size = 1; begin > 0 && (isWhole || size < shared.size);)
      size *= sizes[--begin];
    Digit digit;
    digit.sizes.assign(sizes.begin() + begin, sizes.begin() + end);
    digit.own.assign(own.begin() + begin, own.begin() + end);
    digit.ownStride = ownStride;
    const int64_t count = ShapedType::getNumElements(digit.own);
    digit.registers = shared.registers;
    digit.vector = shared.vector;
    const bool isHeld =
        shared.threads == 1 && (shared.vector == 1 || shared.registers == 1);
    if (digit.own == digit.sizes) {
      digit.share = Share::all;
    } else if (!isWhole && (!isHeld || shared.vector > 1) &&
               digit.own[0] != 1 &&
               ArrayRef(digit.own).drop_front() ==
                   ArrayRef(digit.sizes).drop_front()) {
      digit.share = Share::inPlace;
      digit.count = count;
      if (!begins.empty())
        digit.begin = begins[begin] * (count / digit.own[0]);
    } else if (!isWhole && count == 1) {
      digit.share = Share::none;
      digit.registers = digit.vector = 1;
    } else if (!isWhole && isHeld) {
      digit.share = Share::some;
      (shared.vector == 1 ? digit.registers : digit.vector) = count;
    } else {
      digit.share = Share::groups;
      digit.group = std::min(digit.getGroup(), digit.vector);
      digit.vector /= digit.group;
      digit.runs = getRuns(digit.sizes, digit.own);
    }
    ownStride *= count;
    digits.insert(digits.begin(), std::move(digit));
    end = begin;
  }
}

int64_t ValueDigits::getNumFragments() const {
  // A strip has one.
  if (layout.isWhole())
    return layout.getNumVectors();
  int64_t count = 1;
  for (const Digit &digit : digits)
    count *= digit.registers;
  return count;
}

int64_t ValueDigits::getWidth() const {
  int64_t width = 1;
  for (const Digit &digit : digits)
    width *= digit.vector;
  return width;
}

ColumnPlace ValueDigits::getPlace(int64_t fragment, int64_t element,
                                  ArrayRef<int64_t> at) const {
  ColumnPlace place;
  place.registers.resize(digits.size());
  place.elements.resize(digits.size());
  size_t end = 0;
  for (const Digit &digit : digits)
    end += digit.sizes.size();
  for (size_t number = digits.size(); number-- > 0;) {
    const Digit &digit = digits[number];
    // Vectors of a loop are counted from its trip's first one.
    int64_t own = number == 0 ? fragment : fragment % digit.registers;
    int64_t lane = element % digit.vector;
    fragment /= digit.registers;
    element /= digit.vector;
    const size_t begin = end - digit.sizes.size();
    if (digit.share == Share::groups) {
      lane *= digit.group;
    } else if (digit.share == Share::none || digit.share == Share::some) {
      const int64_t width = layout.getDigits()[number].vector;
      int64_t index = own * digit.vector + lane, row = 0, stride = 1;
      for (size_t i = digit.sizes.size(); i-- > 0;) {
        row +=
            (index % digit.own[i] + (at.empty() ? 0 : at[begin + i])) * stride;
        index /= digit.own[i];
        stride *= digit.sizes[i];
      }
      // Of what threads share a value that has nothing of it has the first.
      own = row / width;
      lane = row % width;
    }
    place.registers[number] = own;
    place.elements[number] = lane;
    end = begin;
  }
  return place;
}

int64_t ValueDigits::getRowFragment(const ColumnPlace &place) const {
  int64_t fragment = 0;
  for (auto [digit, own] : llvm::zip(layout.getDigits(), place.registers))
    fragment = fragment * digit.registers + own;
  return fragment;
}

std::optional<std::pair<int64_t, int64_t>>
ValueDigits::find(const ColumnPlace &place,
                  std::optional<ArrayRef<int64_t>> at) const {
  int64_t fragment = 0, element = 0;
  size_t begin = 0;
  for (auto [number, digit] : llvm::enumerate(digits)) {
    int64_t own = place.registers[number], lane = place.elements[number];
    if (digit.share == Share::groups) {
      lane /= digit.group;
    } else if (digit.share == Share::none || digit.share == Share::some) {
      const int64_t width = layout.getDigits()[number].vector;
      int64_t row = own * width + lane, index = 0, stride = 1;
      for (size_t i = digit.sizes.size(); i-- > 0;) {
        int64_t part = row % digit.sizes[i];
        row /= digit.sizes[i];
        if (at) {
          part -= (*at)[begin + i];
          if (part < 0 || part >= digit.own[i])
            return std::nullopt;
        } else if (digit.own[i] == 1) {
          part = 0;
        }
        index += part * stride;
        stride *= digit.own[i];
      }
      own = index / digit.vector;
      lane = index % digit.vector;
    }
    fragment = fragment * digit.registers + own;
    element = element * digit.vector + lane;
    begin += digit.sizes.size();
  }
  return std::make_pair(fragment, element);
}

int64_t ValueDigits::getSharingThreads() const {
  int64_t threads = 1;
  for (auto [digit, shared] :
       llvm::reverse(llvm::zip(digits, layout.getDigits()))) {
    if (digit.share == Share::none) {
      threads *= shared.threads;
      continue;
    }
    if (digit.share == Share::groups)
      threads *= std::max<int64_t>(1, digit.getGroup() / shared.vector);
    if (shared.threads > 1)
      break;
  }
  return threads;
}
