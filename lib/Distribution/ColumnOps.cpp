// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ColumnOps.cpp - values of some digits of the columns --------------===//

#include "ColumnOps.h"

#include "RMSNorm/IR/AccessMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

using Share = ValueDigits::Share;

//===----------------------------------------------------------------------===//
// Parts and repetitions
//===----------------------------------------------------------------------===//

/// A fragment of `type`, element by element those that `get` gives: an element
/// of a fragment.
static Value
emitSelected(Kernel &kernel, VectorType type,
             function_ref<std::pair<Value, int64_t>(int64_t element)> get) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  // One value a row is a scalar.
  auto extract = [&](std::pair<Value, int64_t> element) -> Value {
    auto [source, number] = element;
    return isa<VectorType>(source.getType())
               ? vector::ExtractOp::create(builder, source, number).getResult()
               : source;
  };
  SmallVector<std::pair<Value, int64_t>> elements;
  SmallVector<Value> sources;
  bool isSame = true, isOne = true;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    elements.push_back(get(i));
    isSame &= elements.back() == std::make_pair(elements.front().first, i);
    isOne &= elements.back() == elements.front();
    if (!llvm::is_contained(sources, elements.back().first))
      sources.push_back(elements.back().first);
  }
  if (isSame && sources.front().getType() == type)
    return sources.front();
  if (isOne && type.getNumElements() > 1)
    return vector::BroadcastOp::create(builder, type,
                                       extract(elements.front()));
  const bool isShuffle = sources.size() <= 2 &&
                         isa<VectorType>(sources.front().getType()) &&
                         sources.front().getType() == sources.back().getType();
  if (!isShuffle) {
    SmallVector<Value> all;
    llvm::transform(elements, std::back_inserter(all), extract);
    return vector::FromElementsOp::create(builder, type, all);
  }
  const int64_t width =
      cast<VectorType>(sources.front().getType()).getNumElements();
  SmallVector<int64_t> mask;
  for (auto [source, element] : elements)
    mask.push_back(element + (source == sources.front() ? 0 : width));
  return vector::ShuffleOp::create(builder, sources.front(), sources.back(),
                                   mask);
}

/// The index that the thread has of digit `number` of the layout in `place`,
/// counted from where a part in place begins, i32, and whether it is in the
/// part.
static std::pair<Value, Value> emitIndexInPart(Kernel &kernel,
                                               const ValueDigits &digits,
                                               const ColumnPlace &place,
                                               size_t number) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const DigitLayout &one = kernel.layout.getDigits()[number];
  const ValueDigits::Digit &digit = digits.getDigits()[number];
  const int64_t first =
      place.registers[number] * one.getStep() + place.elements[number];
  Value index = arith::MulIOp::create(builder, kernel.threads.places[number],
                                      kernel.emitI32(one.vector));
  index = arith::AddIOp::create(builder, index,
                                kernel.emitI32(first - digit.begin));
  // In front of the part it is negative, a large number without a sign.
  Value isIn = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, index,
                                     kernel.emitI32(digit.count));
  return {index, isIn};
}

/// Whether a value has the column that the thread has in `place`; null: it has
/// all of them.
static Value emitIsInPart(Kernel &kernel, const ValueDigits &digits,
                          const ColumnPlace &place) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value isIn;
  for (auto [number, digit] : llvm::enumerate(digits.getDigits())) {
    if (digit.share != Share::inPlace)
      continue;
    Value own = emitIndexInPart(kernel, digits, place, number).second;
    isIn = isIn ? arith::AndIOp::create(builder, isIn, own).getResult() : own;
  }
  return isIn;
}

/// How many elements of a vector of `digit`, a part in place, side by side from
/// a multiple of that on are all in the part, or none.
static int64_t getRunInPart(const ValueDigits::Digit &digit) {
  return std::gcd(std::gcd(digit.begin, digit.count), digit.vector);
}

/// Whether a value with `digits` has the columns of fragment `index` of a row
/// with the digits `whole`, for all elements or for each.
static Value emitIsInPart(Kernel &kernel, const ValueDigits &digits,
                          const ValueDigits &whole, int64_t index) {
  SmallVector<Value> elements;
  std::map<SmallVector<int64_t>, Value> known;
  for (int64_t element = 0; element < whole.getWidth(); ++element) {
    const ColumnPlace place = whole.getPlace(index, element);
    SmallVector<int64_t> runs;
    for (auto [own, digit] : llvm::zip(place.elements, digits.getDigits()))
      if (digit.share == Share::inPlace)
        runs.push_back(own / getRunInPart(digit));
    Value &isIn = known[runs];
    if (!isIn)
      isIn = emitIsInPart(kernel, digits, place);
    elements.push_back(isIn);
  }
  if (known.size() == 1)
    return elements.front();
  return vector::FromElementsOp::create(
      kernel.builder,
      VectorType::get({whole.getWidth()}, kernel.builder.getI1Type()),
      elements);
}

bool rmsnorm::emitColumnOp(Kernel &kernel, Operation *op, GetFragment get,
                           DefineFragments define) {
  auto defineAs =
      [&](function_ref<std::pair<Value, int64_t>(int64_t, int64_t, int64_t)>
              getElement) {
        auto type = cast<VectorType>(
            kernel.getFragmentType(op->getResult(0).getType()));
        define(op->getResult(0), [&](int64_t row, int64_t index) {
          return emitSelected(kernel, type, [&](int64_t element) {
            return getElement(row, index, element);
          });
        });
      };
  if (auto take = dyn_cast<TakeOp>(op)) {
    const ValueDigits part = kernel.getDigits(take.getType());
    const ValueDigits whole = kernel.getDigits(take.getRow().getType());
    defineAs([&](int64_t row, int64_t index, int64_t element) {
      auto [fragment, own] =
          *whole.find(part.getPlace(index, element, take.getAt()));
      return std::make_pair(get(take.getRow(), row, fragment), own);
    });
    return true;
  }
  if (auto put = dyn_cast<PutOp>(op)) {
    const ValueDigits whole = kernel.getDigits(put.getType());
    auto isInPlace = [&](PutOp one) {
      return kernel.getDigits(one.getPart().getType()).hasPartsInPlace();
    };
    if (isInPlace(put)) {
      const ValueDigits part =
          kernel.getDigits(put.getPart().getType(), put.getAt());
      const Type type = kernel.getFragmentType(put.getType());
      define(put, [&](int64_t row, int64_t index) -> Value {
        Value dest = get(put.getRow(), row, index);
        Value own =
            emitSelected(kernel, cast<VectorType>(type), [&](int64_t element) {
              auto found =
                  part.find(whole.getPlace(index, element), put.getAt());
              return found
                         ? std::make_pair(get(put.getPart(), row, found->first),
                                          found->second)
                         : std::make_pair(dest, element);
            });
        return arith::SelectOp::create(kernel.builder,
                                       emitIsInPart(kernel, part, whole, index),
                                       own, dest);
      });
      return true;
    }
    defineAs([&](int64_t row, int64_t index, int64_t element) {
      const ColumnPlace place = whole.getPlace(index, element);
      // What was put in before in one go with this.
      Value dest = put;
      for (PutOp one = put; one && !isInPlace(one);
           one = dest.getDefiningOp<PutOp>()) {
        Value part = one.getPart();
        if (auto found = kernel.getDigits(part).find(place, one.getAt()))
          return std::make_pair(get(part, row, found->first), found->second);
        dest = one.getRow();
      }
      return std::make_pair(get(dest, row, index), element);
    });
    return true;
  }
  auto broadcast = dyn_cast<vector::BroadcastOp>(op);
  if (!broadcast || !isPerColumn(broadcast.getSource().getType()))
    return false;
  const ValueDigits own = kernel.getDigits(broadcast.getSource().getType());
  const ValueDigits result = kernel.getDigits(broadcast.getType());
  defineAs([&](int64_t row, int64_t index, int64_t element) {
    auto [fragment, found] = *own.find(result.getPlace(index, element));
    return std::make_pair(get(broadcast.getSource(), row, fragment), found);
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void rmsnorm::emitGroupReduce(Kernel &kernel, GroupReduceOp op,
                              ArrayRef<VectorPosition> positions,
                              GetFragment get, DefineFragments define) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const ReduceKind kind = op.getKind();
  Value input = op.getInput();
  const ValueDigits own = kernel.getDigits(input.getType());
  const ValueDigits groups = kernel.getDigits(op.getResult().getType());
  const int64_t threads = kernel.layout.getGroupThreads(getGroupColumns(
      cast<VectorType>(op.getResult().getType()), kernel.rows.getDigits()));
  const bool isWhole = kernel.layout.isWhole();
  // Only whole digits have columns that do not exist beside some that do.
  const bool mayLack = !isWhole && kernel.layout.hasPadding() &&
                       !(kind == ReduceKind::add && isZeroOnPadding(input));
  auto type =
      cast<VectorType>(kernel.getFragmentType(op.getResult().getType()));
  define(op.getResult(), [&](int64_t row, int64_t index) -> Value {
    // The fragments that have columns of the groups, added up.
    SmallVector<int64_t> fragments;
    if (isWhole)
      fragments.push_back(index);
    for (int64_t i = 0; !isWhole && i < own.getNumFragments(); ++i)
      if (groups.find(own.getPlace(i, 0))->first == index)
        fragments.push_back(i);
    Value all;
    for (int64_t fragment : fragments) {
      Value value = get(input, row, fragment);
      if (mayLack)
        if (Value valid =
                positions[getRowVector(kernel, input.getType(), fragment)]
                    .valid)
          value = emitMasked(kernel, value, kind, valid);
      all = all ? kernel.emitCombine(kind, all, value) : value;
    }
    // Pairs, then pairs of pairs, within each group.
    SmallVector<Value> totals;
    for (int64_t group = 0; group < type.getNumElements(); ++group) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < own.getWidth(); ++i)
        if (groups.find(own.getPlace(fragments.front(), i))->second == group)
          elements.push_back(vector::ExtractOp::create(builder, all, i));
      while (elements.size() > 1) {
        SmallVector<Value> half;
        for (size_t i = 0; i + 1 < elements.size(); i += 2)
          half.push_back(
              kernel.emitCombine(kind, elements[i], elements[i + 1]));
        if (elements.size() % 2 != 0)
          half.push_back(elements.back());
        elements = std::move(half);
      }
      totals.push_back(elements.front());
      if (threads > 1)
        totals.back() =
            SubgroupReduceOp::create(builder, op.getLoc(), builder.getF32Type(),
                                     kind, totals.back(), threads);
    }
    return vector::FromElementsOp::create(builder, type, totals);
  });
}

//===----------------------------------------------------------------------===//
// Places in memory
//===----------------------------------------------------------------------===//

int64_t rmsnorm::getRowVector(const Kernel &kernel, Type type, int64_t index) {
  const ValueDigits digits = kernel.getDigits(type);
  return kernel.layout.isWhole()
             ? index
             : digits.getRowFragment(digits.getPlace(index, /*element=*/0));
}

/// The columns of a value that has `runs` of those at `column`, a number of a
/// row of `columns`.
static Value emitRuns(Kernel &kernel, ArrayRef<ValueDigits::Run> runs,
                      Value column, int64_t columns) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value sum;
  for (const ValueDigits::Run &run : runs) {
    Value own = column;
    if (run.stride != 1)
      own = arith::DivUIOp::create(builder, own, kernel.emitI32(run.stride));
    if (run.stride * run.size != columns)
      own = arith::RemUIOp::create(builder, own, kernel.emitI32(run.size));
    if (run.ownStride != 1)
      own = arith::MulIOp::create(builder, own, kernel.emitI32(run.ownStride));
    sum = sum ? kernel.emitColumnSum(own, sum) : own;
  }
  return sum ? sum : kernel.emitI32(0);
}

/// Where fragment `index` of a value begins among its columns, i32: a number of
/// the thread, and one that is known. `position` is that of the row's vector,
/// `element` one of the fragment's elements.
static std::pair<Value, int64_t> emitOwnColumn(Kernel &kernel,
                                               const ValueDigits &digits,
                                               const VectorPosition &position,
                                               int64_t index,
                                               int64_t element = 0) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const ArrayRef<DigitLayout> shared = kernel.layout.getDigits();
  const ColumnPlace place = digits.getPlace(index, element);
  if (kernel.layout.isWhole()) {
    const ValueDigits::Digit &digit = digits.getDigits().front();
    Value column = position.column;
    if (const int64_t lane = place.elements.front(); lane != 0)
      column = kernel.emitColumnSum(column, kernel.emitI32(lane));
    if (digit.share == Share::all)
      return {column, 0};
    return {emitRuns(kernel, digit.runs, column, kernel.layout.getColumns()),
            0};
  }
  // What is known of each digit is so of the sum: no digit carries.
  Value sum;
  int64_t known = 0;
  bool isOfRow = true;
  SmallVector<Value> summands;
  for (auto [number, digit, one] :
       llvm::enumerate(digits.getDigits(), shared)) {
    const int64_t first =
        place.registers[number] * one.getStep() + place.elements[number];
    if (digit.share == Share::groups || digit.share == Share::inPlace) {
      Value own;
      if (digit.share == Share::groups) {
        own = arith::MulIOp::create(builder, kernel.threads.places[number],
                                    kernel.emitI32(one.vector));
        own = kernel.emitColumnSum(own, kernel.emitI32(first));
        own = emitRuns(kernel, digit.runs, own, one.size);
      } else {
        // Of columns that the value does not have, that of its first one.
        auto [index, isIn] = emitIndexInPart(kernel, digits, place, number);
        own = arith::SelectOp::create(builder, isIn, index, kernel.emitI32(0));
      }
      if (digit.ownStride != 1)
        own = arith::MulIOp::create(builder, own,
                                    kernel.emitI32(digit.ownStride));
      summands.push_back(own);
      isOfRow = false;
      continue;
    }
    if (digit.share == Share::none) {
      isOfRow &= one.threads == 1;
      continue;
    }
    // Of what a thread holds the number is that of the value's own index.
    int64_t ownIndex = first;
    if (digit.share == Share::some) {
      ownIndex = 0;
      int64_t stride = 1, rest = first;
      for (size_t i = digit.sizes.size(); i-- > 0;) {
        ownIndex += rest % digit.sizes[i] * stride;
        rest /= digit.sizes[i];
        stride *= digit.own[i];
      }
    }
    known += ownIndex * digit.ownStride;
    if (one.threads == 1)
      continue;
    if (digit.ownStride == one.stride) {
      summands.push_back(kernel.threads.columns[number]);
      continue;
    }
    isOfRow = false;
    summands.push_back(
        arith::MulIOp::create(builder, kernel.threads.places[number],
                              kernel.emitI32(one.vector * digit.ownStride)));
  }
  if (isOfRow && known == kernel.layout.getVectorColumn(position.index))
    return {position.column, 0};
  if (isOfRow)
    return {position.first, known};
  for (Value summand : llvm::reverse(summands))
    sum = sum ? kernel.emitColumnSum(summand, sum) : summand;
  return {sum ? sum : kernel.emitI32(0), known};
}

/// How many columns of a row exist from the vector at `position` on, as far as
/// the value has digits that threads share; null: all.
static Value emitValid(Kernel &kernel, const ValueDigits &digits,
                       const VectorPosition &position) {
  if (!position.valid || kernel.layout.isWhole())
    return position.valid;
  return emitDigitsValid(kernel, position.index, [&](size_t digit) {
    return digits.getDigits()[digit].share != Share::none;
  });
}

/// How many of its own columns the fragment at `position` has, or has to store;
/// null: all.
static Value emitGroupsValid(Kernel &kernel, const ValueDigits &digits,
                             const VectorPosition &position) {
  Value valid = emitValid(kernel, digits, position);
  const int64_t group = digits.getDigits().back().getGroup();
  if (valid)
    valid = arith::DivSIOp::create(
        kernel.builder, valid,
        kernel.emitI32(std::min(group, kernel.layout.getVectorWidth())));
  return valid;
}

/// `valid` of the columns from `place` on, `count` of a value that may be a
/// part in place.
static Value emitValidInPart(Kernel &kernel, const ValueDigits &digits,
                             const ColumnPlace &place, Value valid,
                             int64_t count) {
  Value isIn = emitIsInPart(kernel, digits, place);
  if (!isIn)
    return valid;
  return arith::SelectOp::create(kernel.builder, isIn,
                                 valid ? valid : kernel.emitI32(count),
                                 kernel.emitI32(0));
}

/// `number`, i32, times the stride of dimension `dim` of `buffer`, i64.
static Value emitElements(Kernel &kernel, Value buffer, int64_t dim,
                          Value number) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value elements = arith::MulIOp::create(
      builder,
      arith::IndexCastUIOp::create(builder, builder.getIndexType(), number),
      kernel.getStride(buffer, dim));
  return arith::IndexCastOp::create(builder, builder.getI64Type(), elements);
}

/// Where the column `column` of a value, a number and one that is known, is in
/// `buffer`, of the row at `offset`: the offset, i64, and the last index.
static std::pair<Value, Value> emitPlace(Kernel &kernel, Value buffer,
                                         const AccessMap &access, Value offset,
                                         std::pair<Value, int64_t> column) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value index = column.first;
  if (column.second != 0)
    index = kernel.emitColumnSum(index, kernel.emitI32(column.second));
  if (access.hasColumnLast())
    return {offset, index};
  Value last;
  for (const AccessMap::Digit &digit :
       access.getDigits(access.getColumnDim())) {
    Value number = index;
    if (digit.modulus != 0) {
      Value size = kernel.emitI32(digit.modulus);
      number = arith::RemUIOp::create(builder, index, size);
      index = arith::DivUIOp::create(builder, index, size);
    }
    if (!last) {
      last = number;
      continue;
    }
    if (digit.factor != 1)
      number =
          arith::MulIOp::create(builder, number, kernel.emitI32(digit.factor));
    offset = arith::AddIOp::create(
        builder, offset, emitElements(kernel, buffer, digit.place, number));
  }
  return {offset, last};
}

/// How many elements of a fragment of `width` lie side by side in the buffer of
/// an access: of a value that repeats the period may end in a vector, and so
/// may a part of a row and the innermost digit of the columns there.
static int64_t countTogether(const ValueDigits &digits, const AccessMap &access,
                             Type type, int64_t width) {
  int64_t count = 1;
  for (const ValueDigits::Digit &digit : llvm::reverse(digits.getDigits())) {
    const bool repeats = digit.share == Share::groups && !digit.runs.empty();
    const int64_t run = repeats
                            ? std::gcd(digit.runs.front().size, digit.vector)
                        : digit.share == Share::inPlace ? getRunInPart(digit)
                                                        : digit.vector;
    count *= run;
    // What is around a period begins anew with it, and a part ends.
    if (run != digit.vector)
      break;
  }
  if (!access.hasColumnLast())
    count = std::gcd(access.getColumnRun(getNumColumns(type)), count);
  return count;
}

Value rmsnorm::emitVectorLoad(Kernel &kernel, TileLoadOp load, Value offset,
                              const VectorPosition &position, int64_t index) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const ValueDigits digits = kernel.getDigits(load.getResult());
  auto type = cast<VectorType>(kernel.getFragmentType(load.getType()));
  const bool isGroup = load.getKind() == TileKind::group;
  Value valid = isGroup ? emitGroupsValid(kernel, digits, position)
                        : emitValid(kernel, digits, position);
  const int64_t bytes = getElementBytes(load);
  const int64_t alignment =
      isGroup
          ? bytes
          : kernel.getAlignment(load.getBase(), load.getType(), bool(valid));
  const AccessMap access = load.getAccess();
  const int64_t width = type.getNumElements();
  const int64_t count = countTogether(digits, access, load.getType(), width);
  SmallVector<Value> elements;
  for (int64_t first = 0; first < width; first += count) {
    Value left = valid;
    if (valid && first != 0)
      left = arith::SubIOp::create(builder, valid, kernel.emitI32(first));
    left = emitValidInPart(kernel, digits, digits.getPlace(index, first), left,
                           count);
    std::pair<Value, int64_t> column =
        emitOwnColumn(kernel, digits, position, index, first);
    // Some targets read where columns do not exist, from the row's beginning
    // on: there the offset is that of the first column, too.
    if (left && !access.hasColumnLast()) {
      Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt,
                                           left, kernel.emitI32(0));
      Value known =
          kernel.emitColumnSum(column.first, kernel.emitI32(column.second));
      column = {
          arith::SelectOp::create(builder, exists, known, kernel.emitI32(0)),
          0};
    }
    auto [place, begin] =
        emitPlace(kernel, load.getBase(), access, offset, column);
    Value piece =
        kernel.emitLoad(load, VectorType::get({count}, type.getElementType()),
                        place, begin, left, std::min(alignment, count * bytes));
    if (count == width)
      return piece;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(vector::ExtractOp::create(builder, piece, i));
  }
  return vector::FromElementsOp::create(builder, type, elements);
}

/// Where element `element` of a fragment is in the buffer of `store`, whose
/// columns do not lie side by side, of the row at `offset`.
static Value emitElementOffset(Kernel &kernel, TileStoreOp store, Value offset,
                               const ValueDigits &digits,
                               const VectorPosition &position, int64_t index,
                               int64_t element) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value base = store.getBase();
  const AccessMap access = store.getAccess();
  const auto places = access.getDigits(access.getColumnDim());
  auto add = [&](int64_t dim, Value number) {
    offset = arith::AddIOp::create(builder, offset,
                                   emitElements(kernel, base, dim, number));
  };
  auto [column, known] = emitOwnColumn(kernel, digits, position, index);
  // If a thread's vectors are whole groups apart, the offset splits into a part
  // that depends on the thread and one that does not. The second is computed
  // once for the launch and takes no registers of a thread.
  const ValueDigits::Digit &only = digits.getDigits().front();
  const int64_t group = only.getGroup();
  const int64_t step = kernel.layout.getVectorColumn(position.index);
  if (kernel.layout.isWhole() && places.size() == 1 &&
      only.share == Share::groups && step % group == 0) {
    VectorPosition first = position;
    first.column = position.first;
    column = emitOwnColumn(kernel, digits, first, index).first;
    known = step / group;
  }
  known += element;
  if (places.size() > 1 && known != 0)
    column = kernel.emitColumnSum(column, kernel.emitI32(known));
  for (const AccessMap::Digit &digit : places) {
    Value number = column;
    if (digit.modulus != 0) {
      Value size = kernel.emitI32(digit.modulus);
      number = arith::RemUIOp::create(builder, column, size);
      column = arith::DivUIOp::create(builder, column, size);
    }
    add(digit.place, number);
  }
  if (places.size() == 1 && known != 0)
    add(places.front().place, kernel.emitI32(known));
  return offset;
}

void rmsnorm::emitVectorStore(Kernel &kernel, Tile &tile, TileStoreOp store,
                              Value value, int64_t row,
                              const VectorPosition &position, int64_t index) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value base = store.getBase();
  const Type type = store.getValue().getType();
  const ValueDigits digits = kernel.getDigits(store.getValue());
  const int64_t count = cast<VectorType>(value.getType()).getNumElements();
  const bool isGroup = store.getKind() == TileKind::group;
  Value valid = isGroup ? emitGroupsValid(kernel, digits, position)
                        : emitValid(kernel, digits, position);
  const int64_t bytes = isGroup ? getElementBytes(store.getValue())
                                : kernel.getAlignment(base, type, bool(valid));
  // Of the threads that have the same value the first stores it.
  if (const int64_t threads = digits.getSharingThreads(); threads > 1) {
    Value number = kernel.threads.threadInRow;
    if (threads != kernel.layout.getThreadsPerRow())
      number = arith::RemUIOp::create(builder, number, kernel.emitI32(threads));
    Value owns = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                       number, kernel.emitI32(0));
    valid = arith::SelectOp::create(builder, owns,
                                    valid ? valid : kernel.emitI32(count),
                                    kernel.emitI32(0));
  }
  const AccessMap access = store.getAccess();
  Value offset = tile.addresses.getOffset(store, row);
  const auto vectorType = cast<VectorType>(value.getType());
  auto getLeft = [&](int64_t element) {
    return valid && element != 0
               ? arith::SubIOp::create(builder, valid, kernel.emitI32(element))
                     .getResult()
               : valid;
  };
  if (!isGroup || access.hasColumnLast()) {
    const int64_t together = countTogether(digits, access, type, count);
    std::pair<Value, Value> place =
        emitPlace(kernel, base, access, offset,
                  emitOwnColumn(kernel, digits, position, index));
    valid = tile.emitStoreValid(store, row, valid, count);
    auto getValid = [&](int64_t first) {
      return emitValidInPart(kernel, digits, digits.getPlace(index, first),
                             getLeft(first), together);
    };
    if (together == count)
      return kernel.emitStore(store, value, place.first, place.second,
                              getValid(0), bytes);
    for (int64_t first = 0; first < count; first += together) {
      if (first != 0)
        place =
            emitPlace(kernel, base, access, offset,
                      emitOwnColumn(kernel, digits, position, index, first));
      SmallVector<int64_t> mask(together);
      std::iota(mask.begin(), mask.end(), first);
      kernel.emitStore(
          store, vector::ShuffleOp::create(builder, value, value, mask),
          place.first, place.second, getValid(first),
          std::min(bytes, together * getElementBytes(store.getValue())));
    }
    return;
  }
  valid = tile.emitStoreValid(store, row, valid, count);
  for (int64_t element = 0; element < count; ++element) {
    Value one = vector::BroadcastOp::create(
        builder, VectorType::get({1}, vectorType.getElementType()),
        vector::ExtractOp::create(builder, value, element));
    kernel.emitStore(store, one,
                     emitElementOffset(kernel, store, offset, digits, position,
                                       index, element),
                     kernel.emitI32(0), getLeft(element), bytes);
  }
}
