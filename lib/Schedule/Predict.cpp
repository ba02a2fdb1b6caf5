// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Predict.cpp - the schedules for numbers of rows --------------------===//

#include "Selectors.h"

#include "RMSNorm/Schedule/CostModel.h"
#include "RMSNorm/Schedule/Select.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Sizes to look at
//===----------------------------------------------------------------------===//

SmallVector<int64_t> mlir::rmsnorm::getRowSamples(const ProgramFacts &facts,
                                                  const ChipInfo &chip,
                                                  int64_t columns) {
  constexpr double mostWork = 21;
  SmallVector<int64_t> samples;
  if (facts.singleRow)
    return {1};
  for (int step = 0; step < 64; ++step) {
    if (!facts.dynamicColumns)
      samples.push_back(chip.multiprocessors * std::exp2(step / 2. - 8));
    if (!facts.dynamicColumns || step % 4 == 0)
      samples.push_back(std::exp2(step / 2.));
  }
  llvm::sort(samples);
  samples.erase(llvm::unique(samples), samples.end());
  llvm::erase_if(samples, [&](int64_t rows) { return rows < 1; });
  const auto *last = llvm::find_if(samples, [&](int64_t rows) {
    return rows > chip.multiprocessors &&
           getCallWork(facts, chip, rows, columns) > mostWork;
  });
  samples.erase(last == samples.end() ? last : std::next(last), samples.end());
  return samples;
}

SmallVector<int64_t, 3>
mlir::rmsnorm::getColumnBounds(const ProgramFacts &facts,
                               const ChipInfo &chip) {
  SmallVector<int64_t, 3> bounds;
  const int64_t most = 8 * chip.maxThreadsPerBlock;
  for (int64_t vectors = 16; facts.dynamicColumns && vectors <= most;
       vectors *= 2)
    bounds.push_back(vectors * getWidestVector(facts, chip));
  bounds.push_back(kAnyColumns);
  return bounds;
}

/// Numbers of columns in the class of N that the facts are of, the most last.
static SmallVector<int64_t> getColumnSamples(const ProgramFacts &facts,
                                             const ChipInfo &chip) {
  if (!facts.dynamicColumns)
    return {facts.columns};
  if (facts.hasBound())
    return {3 * facts.columns / 4, facts.columns};
  const int64_t last = *std::next(getColumnBounds(facts, chip).rbegin());
  return {2 * last, 4 * last};
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace {
/// The cost of one schedule in calls of any number of rows: the mean over some
/// numbers of columns.
class CallCosts {
public:
  CallCosts(const ScheduleFields &schedule, const ProgramFacts &facts,
            const ChipInfo &chip, ArrayRef<int64_t> columns) {
    for (int64_t n : columns)
      costs.emplace_back(schedule, facts, chip, n);
  }

  double predict(int64_t rows) const {
    double sum = 0;
    for (const ScheduleCost &cost : costs)
      sum += cost.predict(rows);
    return sum / costs.size();
  }
  CostTerms predictTerms(int64_t rows) const {
    CostTerms means = {};
    for (const ScheduleCost &cost : costs)
      for (auto [mean, term] : llvm::zip(means, cost.predictTerms(rows)))
        mean += term / costs.size();
    return means;
  }

private:
  SmallVector<ScheduleCost, 2> costs;
};
} // namespace

double mlir::rmsnorm::getClassCost(const ProgramFacts &facts) {
  // Where only a call knows N, each class of N has such classes: more.
  return facts.dynamicColumns ? 0.4 : 0.24;
}

double mlir::rmsnorm::getLossCost(double loss) {
  // As STEEPNESS of scripts/fit_schedules.py, for the same reason.
  constexpr double steepness = 3;
  return loss * (1 + steepness * loss);
}

CostPartition
mlir::rmsnorm::partitionCosts(ArrayRef<std::vector<double>> losses,
                              const ProgramFacts &facts) {
  const double classCost = getClassCost(facts);
  const size_t numSamples = losses.size();
  const size_t numSchedules = losses.front().size();
  // Of the samples before each, added up: by sample and schedule.
  std::vector<std::vector<double>> sums(1, std::vector<double>(numSchedules));
  for (const std::vector<double> &of : losses) {
    sums.push_back(sums.back());
    for (auto [sum, loss] : llvm::zip_equal(sums.back(), of))
      sum += getLossCost(loss);
  }
  struct Step {
    double cost = INFINITY;
    size_t first = 0, schedule = 0;
  };
  // By the number of classes, and of samples in them.
  std::vector<std::vector<Step>> steps(kMaxClasses + 1,
                                       std::vector<Step>(numSamples + 1));
  steps[0][0].cost = 0;
  for (size_t first = 0; first < numSamples; ++first)
    for (size_t last = first + 1; last <= numSamples; ++last) {
      const double *begin = sums[first].data(), *end = sums[last].data();
      size_t best = 0;
      for (size_t j = 1; j < numSchedules; ++j)
        if (end[j] - begin[j] < end[best] - begin[best])
          best = j;
      const double cost = end[best] - begin[best] + classCost;
      for (size_t count = 1; count <= kMaxClasses; ++count) {
        const double sum = steps[count - 1][first].cost + cost;
        if (sum < steps[count][last].cost)
          steps[count][last] = {sum, first, best};
      }
    }
  size_t count = 1;
  for (size_t other = 2; other <= kMaxClasses; ++other)
    if (steps[other][numSamples].cost < steps[count][numSamples].cost)
      count = other;
  CostPartition best = {steps[count][numSamples].cost, {}};
  for (size_t last = numSamples; last > 0; --count) {
    const Step &step = steps[count][last];
    best.classes.push_back({last, step.schedule});
    last = step.first;
  }
  std::reverse(best.classes.begin(), best.classes.end());
  return best;
}

/// Those of `schedules` together, by their place, that sum a row in the same
/// order; all of them if not `apart`.
static std::vector<std::vector<size_t>>
groupByTree(ArrayRef<ScheduleFields> schedules, bool apart) {
  std::vector<std::vector<size_t>> groups;
  for (auto [place, schedule] : llvm::enumerate(schedules)) {
    auto group = llvm::find_if(groups, [&](const auto &group) {
      return !apart || haveSameTree(schedules[group.front()], schedule);
    });
    if (group == groups.end())
      group = groups.emplace(groups.end());
    group->push_back(place);
  }
  return groups;
}

SmallVector<RowClass, 2>
mlir::rmsnorm::predictRows(const ProgramFacts &facts, const ChipInfo &chip,
                           bool sameTree, std::optional<int64_t> width) {
  std::vector<ScheduleFields> schedules;
  if (width)
    schedules = enumerateRows(facts, chip, *width);
  // Why none of that width runs is for the override to say.
  llvm::erase_if(schedules, [&](const ScheduleFields &fields) {
    return verifyOnTarget(fields, facts, chip);
  });
  if (schedules.empty())
    schedules = enumerateRows(facts, chip);
  const SmallVector<int64_t> columns = getColumnSamples(facts, chip);
  const SmallVector<int64_t> samples =
      getRowSamples(facts, chip, columns.back());
  std::vector<std::vector<double>> losses(samples.size());
  for (const ScheduleFields &schedule : schedules) {
    const CallCosts cost(schedule, facts, chip, columns);
    for (auto [rows, of] : llvm::zip_equal(samples, losses))
      of.push_back(cost.predict(rows));
  }
  for (std::vector<double> &of : losses) {
    const double best = *llvm::min_element(of);
    for (double &loss : of)
      loss -= best;
  }
  SmallVector<RowClass, 2> classes;
  double least = INFINITY;
  for (const std::vector<size_t> &group : groupByTree(schedules, sameTree)) {
    std::vector<std::vector<double>> own(samples.size());
    for (auto [of, all] : llvm::zip_equal(own, losses))
      for (size_t place : group)
        of.push_back(all[place]);
    const CostPartition partition = partitionCosts(own, facts);
    if (partition.cost >= least)
      continue;
    least = partition.cost;
    classes.clear();
    for (const auto &[end, place] : partition.classes)
      classes.push_back({end == samples.size() ? kAnyRows : samples[end - 1],
                         schedules[group[place]]});
  }
  return classes;
}

/// "3.1%", of a difference of logarithms.
static std::string percent(double cost) {
  return llvm::formatv("{0:F1}%", 100 * std::expm1(cost)).str();
}

std::string mlir::rmsnorm::explainSchedule(const ScheduleFields &schedule,
                                           const ProgramFacts &facts,
                                           const ChipInfo &chip, int64_t rows) {
  const SmallVector<int64_t> columns = getColumnSamples(facts, chip);
  std::optional<ScheduleFields> other;
  double least = INFINITY;
  // The least cost of schedules of other widths.
  std::map<int64_t, double> widths;
  bool isKnown = false;
  const SmallVector<int64_t, 3> compared =
      getVectorWidths(facts, chip, /*all=*/false);
  for (const ScheduleFields &one : enumerateLike(schedule, facts, chip)) {
    if (one == schedule) {
      isKnown = true;
      continue;
    }
    const double cost = CallCosts(one, facts, chip, columns).predict(rows);
    if (one.vectorWidth != schedule.vectorWidth) {
      double &other = widths.try_emplace(one.vectorWidth, cost).first->second;
      other = std::min(other, cost);
    }
    if (cost < least && (one.vectorWidth == schedule.vectorWidth ||
                         llvm::is_contained(compared, one.vectorWidth))) {
      least = cost;
      other = one;
    }
  }
  if (!isKnown)
    return "";
  if (!other)
    return "the only one";
  const CostTerms own =
      CallCosts(schedule, facts, chip, columns).predictTerms(rows);
  const CostTerms next =
      CallCosts(*other, facts, chip, columns).predictTerms(rows);
  double difference = 0;
  SmallVector<std::pair<double, size_t>> terms;
  for (size_t i = 0; i < kNumCostTerms; ++i) {
    difference += next[i] - own[i];
    terms.push_back({next[i] - own[i], i});
  }
  llvm::sort(terms, [](const auto &a, const auto &b) {
    return std::abs(a.first) > std::abs(b.first);
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "at " << rows << " rows #rmsnorm.schedule<";
  other->print(os);
  os << "> would take " << percent(std::abs(difference))
     << (difference < 0 ? " less" : " more");
  llvm::ListSeparator separator(", ");
  os << " (";
  for (const auto &[cost, term] : ArrayRef(terms).take_front(3))
    os << separator << stringifyCostTerm(CostTerm(term)) << " "
       << percent(cost);
  os << ")";
  const double cost = std::accumulate(own.begin(), own.end(), 0.);
  for (auto [width, others] : widths)
    os << (width == widths.begin()->first ? "; by vectors of " : ", of ")
       << width << (width == 1 ? " element " : " elements ")
       << percent(std::abs(others - cost))
       << (others < cost ? " less" : " more");
  return text;
}
