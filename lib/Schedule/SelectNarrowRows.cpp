// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectNarrowRows.cpp - schedules for rows of few vectors ----------===//
//
// Where a row is no longer than what a few subgroups read at once, what sets
// the pace is instructions: of lanes that own nothing, and of reductions, whose
// number a row does not depend on the row's size. Figures are shares of
// a copy's speed on an H200 for 77 MB of bf16, in the order of their text.
//
//===----------------------------------------------------------------------===//

#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

/// What the rules ask of a program with narrow rows.
struct NarrowRow {
  NarrowRow(const ProgramFacts &facts, const ChipInfo &chip)
      : facts(facts), chip(chip), subgroup(chip.subgroupSize),
        vectors(llvm::divideCeil(facts.columns, getWidestVector(facts, chip))) {
  }

  bool hasTwoTiles() const {
    return facts.loadedBitsPerColumn >= 2 * facts.narrowestBits;
  }

  /// One tile that is read and written, the norm or functions of it: a copy but
  /// for what is computed.
  bool isPlain() const {
    return !hasTwoTiles() &&
           (getManyOperations(facts) == 0 || facts.getFunctions() > 0) &&
           facts.storedBitsPerColumn == facts.loadedBitsPerColumn;
  }

  /// A tile that is read after the reduction, as z of norm(x) * silu(z).
  bool hasLateTile() const {
    return hasTwoTiles() && facts.liveBitsPerColumn < facts.loadedBitsPerColumn;
  }

  int64_t getVectorsEach(int64_t threads) const {
    return llvm::divideCeil(vectors, threads);
  }

  bool isWhole(int64_t threads) const { return vectors % threads == 0; }

  /// Whether twice as many threads leave no more lanes without a vector.
  bool doublesWhole(int64_t threads) const {
    return 2 * getVectorsEach(2 * threads) <= getVectorsEach(threads);
  }

  const ProgramFacts &facts;
  const ChipInfo &chip;
  const int64_t subgroup;
  /// Of a row.
  const int64_t vectors;
};

} // namespace

/// Vectors that a thread has of one of many rows, at most. A subgroup then has
/// two or four rows to reduce at once (scale of a row as f8, by as many threads
/// as three to five make it and by two subgroups: x384 1.00 and 0.59, x640 1.00
/// and 0.69, x768 1.01 and 0.80, x1280 1.00 and 0.88; a static scale x384 1.00
/// and 0.74; 32 columns e8m0 x384 0.97 and 0.63).
static int64_t getMostVectors(const NarrowRow &row) {
  // norm(x * silu(z)) with 3 and 5: x640 1.01 and 0.89, x1280 1.01 and 0.89.
  // norm(x) * silu(z): x640 0.90 and 0.93, x1024 0.92 and 0.98, x1280 0.85 and
  // 0.95.
  if (row.hasTwoTiles())
    return row.hasLateTile() && row.vectors > row.subgroup ? 5 : 3;
  // More is written than read (f8 of 32 columns and y with 3, 6 and 4: x512
  // 1.008, -, 1.024; x768 1.034, 0.984, -; x1024 1.054, -, 1.046).
  if (row.facts.storedBitsPerColumn > row.facts.loadedBitsPerColumn)
    return 4;
  // Groups that lie in a thread's own vectors or in few threads are reduced
  // with fewer exchanges, too (six and three: 32 columns e8m0 x384 0.97 and
  // 0.93, 128 columns x768 0.98 and 0.97, 16 columns f4 x768 0.70 and 0.67).
  return row.facts.groupColumns > 0 ? 6 : 5;
}

/// Threads of one of many rows.
static int64_t getManyRowsThreads(const NarrowRow &row) {
  int64_t threads =
      llvm::PowerOf2Ceil(llvm::divideCeil(row.vectors, getMostVectors(row)));
  // Neighbours share a group.
  threads = std::max(threads, row.facts.groupColumns /
                                  getWidestVector(row.facts, row.chip));
  // The norm, silu of it by four and two vectors a thread: x512 0.994, 0.994
  // and 1.005, 1.004; x1024 0.992, 0.997 and 1.007, 1.007; by five and three
  // x640 1.010, 0.990 and 0.992, 0.988.
  if (row.isPlain())
    while (row.vectors > 2 * threads && row.doublesWhole(threads))
      threads *= 2;
  return threads;
}

/// One row a group, so many threads a block.
static ScheduleFields getSchedule(int64_t threads, int64_t blockThreads,
                                  const NarrowRow &row) {
  const ProgramFacts &facts = row.facts;
  const int64_t each = row.getVectorsEach(threads);
  ScheduleFields fields;
  fields.vectorWidth = getWidestVector(facts, row.chip);
  fields.threadsPerRow = threads;
  fields.rowGroups = std::max<int64_t>(1, blockThreads / threads);
  fields.rowsPerGroup = 1;
  // With masks and without, at many and at 8192 rows. Of few vectors: f8 with
  // a scale given x192 1.004 and 0.969, x384 1.00 and 0.97. Where two tiles,
  // functions or a wider result wait beside the row: norm(x) * silu(z) x512
  // 0.98 and 0.94; silu as f8 x768 0.971, 0.961 and 0.964, 0.869, x512 0.907,
  // 0.930 and 0.945, 0.845; e8m0 beside y x1024 1.054, 1.027 and 1.01, 0.90.
  fields.maskBf16 = each <= 3 || row.hasTwoTiles() ||
                    facts.getFunctions() > 0 || row.isPlain() ||
                    facts.storedBitsPerColumn > facts.loadedBitsPerColumn;
  // Of more, where a lane's last vector may be none and what is reduced needs
  // the weight, too: the scale of a row x896 0.988, 0.993 and 0.963, 0.970,
  // x1152 0.998, 0.998 and 0.818, 0.842, of 128 columns x896 0.956, 0.942 and
  // 0.924, 0.920; but whole x1024 1.001, 1.019 and 1.003, 1.011, 0.970, 0.867
  // and 0.993, 0.981, and a scale given x896 0.958, 0.836 and 0.985, 1.001. f4
  // of 16 columns x1024 0.700, 0.675 and 0.691, 0.670.
  if (!row.isWhole(threads))
    fields.maskBf16 |= facts.groupColumns > 0 ||
                       facts.liveBitsPerColumn > facts.loadedBitsPerColumn;
  fields.maskBf16 |= facts.groupColumns > 0 && getManyOperations(facts) > 1;
  return fields;
}

/// For a number of rows that the multiprocessors have two of at most: a row
/// a block (64 rows, and two rows by two subgroups each: the norm x384 1.18 and
/// 1.11, x1024 1.20 and 1.06; norm(x) * silu(z) x384 1.04 and 0.76, x640 0.98
/// and 0.68, x1024 0.98 and 0.73).
static ScheduleFields getFewRows(const NarrowRow &row) {
  const ProgramFacts &facts = row.facts;
  // By a subgroup and by a vector a thread: f8 with a scale given x512 1.19 and
  // 1.15, norm(x) * silu(z) 1.18 and 1.01, x768 0.98 and 0.89, 128 columns x768
  // 1.14 and 1.12, x1024 1.11 and 1.14; but silu x512 1.09 and 1.16, x768 1.03
  // and 1.11, norm(x * silu(z)) x768 0.97 and 1.06, f4 of 16 columns 1.01 and
  // 1.06.
  int64_t most = 2 * row.subgroup;
  if (facts.getFunctions() > 0 && !row.hasTwoTiles())
    most = row.subgroup;
  else if (facts.numRepeatedFunctions == 0 && getManyOperations(facts) <= 1)
    most = 3 * row.subgroup;
  const int64_t threads =
      row.vectors <= most ? row.subgroup
                          : std::min<int64_t>(llvm::PowerOf2Ceil(row.vectors),
                                              4 * row.subgroup);
  return getSchedule(
      std::min<int64_t>(threads, llvm::PowerOf2Ceil(row.vectors)), row.subgroup,
      row);
}

/// Whether so many threads leave lanes without a vector of rows that wait for
/// a tile after the reduction, more than three vectors a lane of a subgroup.
static bool hasIdleLate(const NarrowRow &row, int64_t threads) {
  return row.hasLateTile() && row.vectors > 3 * row.subgroup &&
         row.vectors <= 4 * row.subgroup && !row.isWhole(threads);
}

/// For a few megabytes of rows, which do not fill the machine by as few threads
/// as `many` has.
static ScheduleFields getMoreRows(const ScheduleFields &many,
                                  const NarrowRow &row) {
  const int64_t threads = many.threadsPerRow;
  const int64_t each = row.getVectorsEach(threads);
  // Long rows by small blocks (2048 rows of 128 columns x1536 0.91 and 0.87).
  const int64_t blockThreads =
      (row.vectors > 5 * row.subgroup ? 2 : 4) * row.subgroup;
  auto take = [&](int64_t threads) {
    return getSchedule(threads, blockThreads, row);
  };
  if (row.hasLateTile() && row.vectors > row.subgroup) {
    // By a vector a thread and twice as many threads, 512 and 2048 rows x512
    // 0.83, 0.96 and 0.76, 0.82; 512 and 1536 rows x1024 0.85, 0.96 and 0.71,
    // 0.82.
    if (llvm::isPowerOf2_64(row.vectors))
      return take(row.vectors);
    // By a block of one subgroup and as for many rows, 512 and 2048 rows: x264
    // 0.89, 0.78 and 0.55, 0.50; x640 0.80, 0.78 and 0.61, 0.76; x768 0.85,
    // 0.84 and 0.65, 0.80; but x384 0.91, 0.67 and 0.95, 0.78.
    if (row.vectors <= 3 * row.subgroup &&
        (each > 3 || row.vectors > 2 * row.subgroup))
      return getSchedule(row.subgroup, row.subgroup, row);
  }
  // By twice as many threads and as for many rows, 512 and 1024 rows: the norm
  // x1536 1.08, 1.06 and 1.03, 1.04.
  if (row.isPlain() && row.vectors > 5 * row.subgroup)
    return take(2 * threads);
  if (row.isPlain() && row.facts.getFunctions() > 0) {
    // 512 and 2048 rows, a vector a thread and twice as many threads: silu x264
    // 0.92, 0.67 and 0.84, 0.61.
    if (each > 3 && row.vectors <= 2 * row.subgroup)
      return take(llvm::PowerOf2Ceil(row.vectors));
    // x1024 0.85, 0.91 and 0.79, 0.85 as for many; but x896, where some have
    // none then, 0.78, 0.71 and 0.74, 0.85.
    if (row.vectors < 2 * threads)
      return take(threads);
  }
  // Twice as many, if that leaves no more lanes without one or a thread has
  // more than three now (2048 rows, twice as many and not: 128 columns x1024
  // 0.85 and 0.77, x640 0.72 and 0.68, a scale given x1024 0.90 and 0.81, but
  // x768 0.83 and 0.83, 512 rows 0.85 and 0.96; of norm(x) * silu(z) x896 0.85
  // and 0.80). The norm is for the latter only (x1024 0.94 and 1.00).
  const bool isNorm = row.isPlain() && row.facts.getFunctions() == 0;
  return take(each > 3 || (!isNorm && row.doublesWhole(threads)) ? 2 * threads
                                                                 : threads);
}

bool mlir::rmsnorm::isNarrowRow(const ProgramFacts &facts,
                                const ChipInfo &chip) {
  // Other costs dominate where a program takes rows apart, where rows share
  // tiles, and where accesses are narrow.
  if (!rereadsFromL1(chip) || facts.dynamicColumns || facts.singleRow ||
      facts.numColumnSums > 0 || facts.part > 0 ||
      facts.sharedBitsPerColumn > 0 || facts.loadedBitsPerColumn == 0 ||
      facts.numReductions == 0 ||
      getAccessWidth(facts, chip) < getWidestVector(facts, chip))
    return false;
  const NarrowRow row(facts, chip);
  // A vector a lane of a subgroup or its half (the norm, silu of it, by half as
  // many threads: x128 1.014, 1.002 and 1.009, 0.987; x256 1.003, 1.006 and
  // 1.007, 0.982).
  if (row.isPlain() && row.vectors <= row.subgroup &&
      llvm::isPowerOf2_64(row.vectors))
    return false;
  // Six of groups, and of the norm if lanes of two subgroups have three each
  // (us at 2048, 4096 and 24960 rows of x1536 4.49, 7.41 and 37.4, by three
  // subgroups and read again 5.83, 7.91 and 37.2, and a norm of 512 columns
  // beside it is in one launch then, 8192 rows 17.6 and 20.2; not silu of it
  // 5.05, 7.77 and 37.7, 5.86, 8.11 and 37.3, 512 rows 3.05 and 2.79).
  const bool takesSix =
      row.isPlain() ? facts.getFunctions() == 0 && row.isWhole(2 * row.subgroup)
                    : facts.groupColumns > 0 && !row.hasTwoTiles() &&
                          facts.getFunctions() == 0;
  return row.vectors > 8 && row.vectors <= row.subgroup * (takesSix ? 6 : 5);
}

SmallVector<RowClass, 2>
mlir::rmsnorm::selectNarrowRows(const ProgramFacts &facts,
                                const ChipInfo &chip) {
  const NarrowRow row(facts, chip);
  const int64_t threads = getManyRowsThreads(row);
  int64_t blockThreads = 4 * row.subgroup;
  // Of six vectors a thread smaller blocks (32 columns e8m0 x1536 0.99, by 128
  // threads 0.93); of a late tile where lanes have nothing to do (x896 0.96 and
  // 0.84).
  if (row.vectors > 5 * threads)
    blockThreads = 2 * row.subgroup;
  else if (hasIdleLate(row, threads))
    blockThreads = row.subgroup;
  ScheduleFields many = getSchedule(threads, blockThreads, row);
  // Two rows a group where lanes have nothing to do and two subgroups wait for
  // each other (8192 and 42788 rows of the norm x896 1.064, 1.014 and 0.963,
  // 0.977, silu of it 1.006, 1.009 and 0.891, 0.924).
  if (row.isPlain() && threads > row.subgroup && !row.isWhole(threads))
    many.rowsPerGroup = 2;
  SmallVector<RowClass, 2> classes = {
      {2 * chip.multiprocessors, getFewRows(row)}};
  // Half of a subgroup for some rows a multiprocessor (512 rows, by 16 threads,
  // as for many, and by 16 with two rows a group: the norm x96 1.18, 1.13 and
  // 1.16, x192 1.17, 1.13 and 1.14, a scale given 1.17, 1.02 and 1.14, 1.12,
  // 1.03 and 1.08, x + residual 1.19, 1.01 and 1.05, 1.13, 1.02 and 1.06; 2048
  // rows of the norm 1.04, 1.11 and 1.00).
  if (row.vectors <= 3 * row.subgroup / 4)
    classes.push_back({8 * chip.multiprocessors,
                       getSchedule(row.subgroup / 2, 4 * row.subgroup, row)});
  // Groups need more rows (8192 rows, twice as many threads and as for many:
  // 128 columns x512 0.98 and 0.91, x640 0.94 and 0.86, x768 0.98 and 0.88,
  // x1024 0.94 and 0.98), and so do blocks of one subgroup (x896, see above).
  // The norm x1536 fewer (1536 rows by twice as many threads and as for many
  // 0.90 and 1.02).
  const int64_t bytes = hasIdleLate(row, threads)        ? 32 << 20
                        : facts.groupColumns > 0         ? 12 << 20
                        : row.vectors > 5 * row.subgroup ? 4 << 20
                                                         : 6 << 20;
  const int64_t rowBytes =
      ProgramFacts::getBytes(facts.loadedBitsPerColumn, facts.columns);
  classes.push_back({bytes / rowBytes, getMoreRows(many, row)});
  // The norm of five to six halves of a subgroup as where lanes have nothing to
  // do (8192 and 49920 rows of x768 1.054, 1.012 and, by one subgroup, 1.035,
  // 1.003, x704 1.040, 1.010 and 1.038, 1.006).
  if (row.isPlain() && facts.getFunctions() == 0 &&
      2 * row.vectors > 5 * row.subgroup && row.vectors <= 3 * row.subgroup) {
    many = getSchedule(2 * row.subgroup, 4 * row.subgroup, row);
    many.rowsPerGroup = 2;
  }
  classes.push_back({kAnyRows, many});
  return classes;
}
