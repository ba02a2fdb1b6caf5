// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Plan.cpp - chooses the sizes an entry is run with -----------------===//

#include "Run.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace trial {

// Not a multiple of anything, so that packed rows have a tail.
static constexpr int64_t simulatorRows = 301;
// Elements of the largest argument on a GPU: more than any L2 keeps.
static constexpr int64_t deviceElements = int64_t(1) << 27;
// No machine has it.
static constexpr double maxBytes = 1e15;
// For a run-time row size: 8 divides it, 16 and a power of two do not.
static constexpr int64_t defaultColumns = 1000;
// Sizes may have to be multiples of something.
static constexpr int64_t mostSearched = 4096;

namespace {

/// Sizes of symbols, chosen from the outside of the largest argument inwards.
struct Chooser {
  rmsnorm_module *module;
  size_t entry;
  uint64_t derived = 0;
  std::vector<int64_t> sizes = std::vector<int64_t>(RMSNORM_MAX_SYMBOLS, -1);

  /// The size of `dim` if it is static or already known, else -1.
  int64_t get(int64_t dim) const { return dim >= 0 ? dim : sizes[-1 - dim]; }
  bool isDerived(int64_t dim) const {
    return dim < 0 && (derived >> (-1 - dim) & 1);
  }
  bool infer() {
    return rmsnorm_module_infer_sizes(module, entry, sizes.data()) ==
           RMSNORM_OK;
  }
  /// Chooses `size` or, if that does not fit, the next larger or else the next
  /// smaller one that does; if none nearby does, as it has to be as large as
  /// others, the first that does of twice as much, four times as much, ...
  void set(int64_t dim, int64_t size) {
    if (get(dim) >= 0 || isDerived(dim))
      return;
    const std::vector<int64_t> known = sizes;
    auto fits = [&](int64_t next) {
      sizes[-1 - dim] = next;
      if (infer())
        return true;
      sizes = known;
      return false;
    };
    const int64_t least = std::max<int64_t>(0, size - mostSearched);
    const int64_t most = size + std::min(mostSearched, INT64_MAX - size);
    for (int64_t next = size; next >= least;
         next = next == most ? size - 1 : next + (next < size ? -1 : 1))
      if (fits(next))
        return;
    for (int64_t next = size; next > 0 && next <= INT64_MAX / 2;)
      if (fits(next *= 2))
        return;
    sizes[-1 - dim] = size;
  }
};

} // namespace

/// For sizes whose product may be anything.
static int64_t multiplySaturated(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/// Calls `visit` with each of the sizes that elements of arguments must be
/// below, as they are indices, and the number of the argument.
template <typename Visitor>
static void forEachBound(const Plan &plan, Visitor visit) {
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    for (int b = 0; b < plan.arguments[i].bound_count; ++b)
      visit(plan.arguments[i].bounds[b], i);
}

/// Whether rows of `argument` are those that indices say: how many it has is
/// not the size of the problem.
static bool isTable(const Plan &plan, const rmsnorm_argument_info &argument) {
  bool found = false;
  forEachBound(plan, [&](int64_t bound, size_t) {
    found |= std::count(argument.dims, argument.dims + argument.rank, bound);
  });
  return found;
}

/// The run-time sizes in front of the last dimension.
static std::set<int64_t> getOpenRows(const rmsnorm_argument_info &argument) {
  std::set<int64_t> open;
  for (int d = 0; d + 1 < argument.rank; ++d)
    if (argument.dims[d] < 0)
      open.insert(argument.dims[d]);
  return open;
}

/// The product of the other ones.
static int64_t getFixedRows(const rmsnorm_argument_info &argument) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < argument.rank; ++d)
    rows = multiplySaturated(rows, std::max<int64_t>(1, argument.dims[d]));
  return rows;
}

/// Whether results have rows, but none those of `argument`: they are of a slice
/// of it. An argument that is updated may have rows that nothing is written to.
static bool isSliced(const Plan &plan, const rmsnorm_argument_info &argument,
                     const Chooser &chooser) {
  const std::set<int64_t> own = getOpenRows(argument);
  if (own.empty() || isTable(plan, argument))
    return false;
  bool haveRows = false;
  for (const rmsnorm_argument_info &result : plan.arguments) {
    if (result.role != RMSNORM_OUTPUT)
      continue;
    for (int64_t dim : getOpenRows(result)) {
      if (own.count(dim) || chooser.isDerived(dim))
        return false;
      haveRows = true;
    }
  }
  return haveRows;
}

/// Spreads `rows` over the leading dimensions of an argument whose sizes are
/// not known: 2 for each but the last of them, which takes the rest.
static void chooseRows(const rmsnorm_argument_info &argument, int64_t rows,
                       Chooser &chooser) {
  std::vector<int64_t> open;
  int64_t known = 1;
  for (int d = 0; d + 1 < argument.rank; ++d) {
    int64_t dim = argument.dims[d];
    if (int64_t size = chooser.get(dim); size >= 0)
      known = multiplySaturated(known, size);
    else if (!chooser.isDerived(dim) &&
             std::find(open.begin(), open.end(), dim) == open.end())
      open.push_back(dim);
  }
  for (size_t i = 0; i + 1 < open.size(); ++i) {
    chooser.set(open[i], rows == 0 ? 0 : 2);
    known = multiplySaturated(known, 2);
  }
  known = std::max<int64_t>(1, known);
  bool roundsUp = rows % known >= known - known / 2;
  if (!open.empty())
    chooser.set(open.back(),
                rows == 0 ? 0 : std::max<int64_t>(1, rows / known + roundsUp));
}

std::string planEntry(rmsnorm_module *module, size_t entry,
                      const Options &options, Plan &plan) {
  rmsnorm_entry_info info;
  if (rmsnorm_module_get_entry(module, entry, &info))
    return rmsnorm_last_error();
  plan.module = module;
  plan.entry = entry;
  plan.name = info.name;
  plan.arguments.resize(info.argument_count);
  std::set<int> symbols;
  Chooser chooser{module, entry, info.derived_symbols};
  const rmsnorm_argument_info *widest = nullptr;
  for (size_t i = 0; i < info.argument_count; ++i) {
    rmsnorm_argument_info &argument = plan.arguments[i];
    if (rmsnorm_module_get_argument(module, entry, i, &argument))
      return rmsnorm_last_error();
    for (int d = 0; d < argument.rank; ++d)
      if (argument.dims[d] < 0)
        symbols.insert(int(-1 - argument.dims[d]));
  }
  auto hasDerived = [&](const rmsnorm_argument_info &argument) {
    return std::any_of(argument.dims, argument.dims + argument.rank,
                       [&](int64_t dim) { return chooser.isDerived(dim); });
  };
  for (const rmsnorm_argument_info &argument : plan.arguments)
    if (!isTable(plan, argument) && !isSliced(plan, argument, chooser) &&
        !hasDerived(argument) && (!widest || argument.rank > widest->rank))
      widest = &argument;
  for (size_t i = 0, rank = 0; i < plan.arguments.size(); ++i)
    if (const size_t own = plan.arguments[i].rank;
        own > rank && !isSliced(plan, plan.arguments[i], chooser)) {
      plan.widest = i;
      rank = own;
    }
  for (const auto &dim : options.dims)
    if (!symbols.count(dim.first))
      return "--dim: entry '" + plan.name + "' has no shape symbol s" +
             std::to_string(dim.first);
  for (const auto &dim : options.dims)
    chooser.sizes[dim.first] = dim.second;
  if (!chooser.infer())
    return "entry '" + plan.name + "': " + rmsnorm_last_error();

  int64_t rows = simulatorRows;
  if (widest && widest->rank > 0) {
    chooser.set(widest->dims[widest->rank - 1], defaultColumns);
    int64_t columns = chooser.get(widest->dims[widest->rank - 1]);
    rows = options.rows;
    if (rows < 0)
      rows = options.backend == RMSNORM_SIM
                 ? simulatorRows
                 : std::max<int64_t>(1, deviceElements /
                                            std::max<int64_t>(1, columns));
    chooseRows(*widest, rows, chooser);
  }
  // Rows are stored at some places of a larger tensor.
  for (const rmsnorm_argument_info &argument : plan.arguments) {
    int64_t count = 1;
    for (int d = 0; argument.distinct && d < argument.rank; ++d) {
      chooser.set(argument.dims[d], simulatorRows);
      count = multiplySaturated(count, chooser.get(argument.dims[d]));
    }
    for (int b = 0; argument.distinct && b < argument.bound_count; ++b)
      chooser.set(argument.bounds[b], std::max(count, count + 3));
  }
  for (const rmsnorm_argument_info &argument : plan.arguments) {
    // A slice has so many rows of it.
    chooseRows(argument,
               isSliced(plan, argument, chooser)
                   ? multiplySaturated(rows, getFixedRows(argument))
                   : simulatorRows,
               chooser);
    for (int d = 0; d < argument.rank; ++d)
      chooser.set(argument.dims[d], simulatorRows);
  }
  if (!chooser.infer())
    return "entry '" + plan.name + "': " + rmsnorm_last_error();
  double bytes = 0;
  for (const rmsnorm_argument_info &argument : plan.arguments) {
    std::vector<int64_t> sizes;
    double product = argument.dtype.bits / 8.0;
    for (int d = 0; d < argument.rank; ++d) {
      sizes.push_back(chooser.get(argument.dims[d]));
      product *= std::max(1.0, double(sizes.back()));
    }
    plan.shapes.push_back(std::move(sizes));
    bytes += product;
  }
  plan.bounds.assign(plan.arguments.size(), -1);
  forEachBound(plan, [&](int64_t bound, size_t i) {
    int64_t size = std::max<int64_t>(0, chooser.get(bound));
    if (plan.bounds[i] < 0 || size < plan.bounds[i])
      plan.bounds[i] = size;
  });
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    int64_t count = 1;
    for (int64_t size : plan.shapes[i])
      count = multiplySaturated(count, size);
    if (plan.arguments[i].distinct && count > plan.bounds[i])
      return "entry '" + plan.name +
             "': expected sizes with as many places as '" +
             plan.arguments[i].name +
             "' has elements, no two of which are the "
             "same, " +
             std::to_string(count) + ", got " + std::to_string(plan.bounds[i]);
  }
  // Before anything is multiplied.
  if (bytes > maxBytes) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3g bytes", bytes);
    return "entry '" + plan.name + "': expected smaller sizes, got " + text +
           " in all arguments";
  }
  return "";
}

double getBytesPerCall(const Plan &plan) {
  double bytes = 0;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const rmsnorm_argument_info &argument = plan.arguments[i];
    double size = argument.dtype.bits / 8.0;
    for (int d = 0; d < argument.rank; ++d) {
      // Of a table at most a row for each index.
      double read = double(plan.shapes[i][d]);
      forEachBound(plan, [&](int64_t bound, size_t index) {
        double indices = 1;
        for (int64_t dim : plan.shapes[index])
          indices *= double(dim);
        if (bound == argument.dims[d])
          read = std::min(read, indices);
      });
      size *= read;
    }
    bytes += size * (argument.role == RMSNORM_INOUT ? 2 : 1);
  }
  return bytes;
}

} // namespace trial
