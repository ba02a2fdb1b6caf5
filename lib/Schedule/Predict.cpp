// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Predict.cpp - the schedules for numbers of rows --------------------===//

#include "Selectors.h"

#include "RMSNorm/Schedule/CostModel.h"
#include "RMSNorm/Schedule/Select.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rmsnorm;

/// Kernels of a program, one for each class of rows, at most.
static constexpr size_t kMaxClasses = 4;

/// A class more must save so much, of the logarithm of the time at all numbers
/// of rows that are looked at together.
static constexpr double kClassCost = 0.12;

/// Numbers of rows to look at: powers of two, which many calls have, and the
/// multiprocessors times such powers and their roots, so that waves of blocks
/// begin after one, up to so many bytes that the best schedule depends on them
/// no more.
static SmallVector<int64_t> getSamples(const ProgramFacts &facts,
                                       const ChipInfo &chip) {
  constexpr double mostWork = 21;
  SmallVector<int64_t> samples;
  for (int step = 0; step < 64; ++step) {
    samples.push_back(std::exp2(step / 2.));
    samples.push_back(chip.multiprocessors * std::exp2(step / 2. - 8));
  }
  llvm::sort(samples);
  samples.erase(llvm::unique(samples), samples.end());
  llvm::erase_if(samples, [&](int64_t rows) { return rows < 1; });
  const auto *last = llvm::find_if(samples, [&](int64_t rows) {
    return rows > chip.multiprocessors &&
           getCallWork(facts, chip, rows) > mostWork;
  });
  samples.erase(last == samples.end() ? last : std::next(last), samples.end());
  return samples;
}

namespace {
/// The costs of all schedules at all samples, and classes of these.
class Classes {
public:
  Classes(ArrayRef<ScheduleFields> schedules, ArrayRef<int64_t> samples,
          const ProgramFacts &facts, const ChipInfo &chip);

  struct Partition {
    double cost;
    /// The first sample after each class, and its schedule.
    SmallVector<std::pair<size_t, size_t>> classes;
  };
  /// The samples' best partition, into `most` classes at most.
  Partition partition(size_t most) const;

private:
  /// The schedule of least cost for samples from `first` on and before `last`,
  /// and that cost.
  std::pair<size_t, double> getBest(size_t first, size_t last) const;

  size_t numSamples, numSchedules;
  /// Of the samples before each, added up: by sample and schedule.
  std::vector<double> sums;
};
} // namespace

Classes::Classes(ArrayRef<ScheduleFields> schedules, ArrayRef<int64_t> samples,
                 const ProgramFacts &facts, const ChipInfo &chip)
    : numSamples(samples.size()), numSchedules(schedules.size()),
      sums((samples.size() + 1) * schedules.size()) {
  std::vector<ScheduleCost> costs;
  for (const ScheduleFields &schedule : schedules)
    costs.emplace_back(schedule, facts, chip);
  for (size_t i = 0; i < numSamples; ++i) {
    const double work = getCallWork(facts, chip, samples[i]);
    for (size_t j = 0; j < numSchedules; ++j)
      sums[(i + 1) * numSchedules + j] =
          sums[i * numSchedules + j] + costs[j].predict(samples[i], work);
  }
}

std::pair<size_t, double> Classes::getBest(size_t first, size_t last) const {
  const double *begin = &sums[first * numSchedules];
  const double *end = &sums[last * numSchedules];
  size_t best = 0;
  for (size_t j = 1; j < numSchedules; ++j)
    if (end[j] - begin[j] < end[best] - begin[best])
      best = j;
  return {best, end[best] - begin[best]};
}

Classes::Partition Classes::partition(size_t most) const {
  struct Step {
    double cost = INFINITY;
    size_t first = 0, schedule = 0;
  };
  // By the number of classes, and of samples in them.
  std::vector<std::vector<Step>> steps(most + 1,
                                       std::vector<Step>(numSamples + 1));
  steps[0][0].cost = 0;
  for (size_t first = 0; first < numSamples; ++first)
    for (size_t last = first + 1; last <= numSamples; ++last) {
      const auto [schedule, cost] = getBest(first, last);
      for (size_t count = 1; count <= most; ++count) {
        const double sum = steps[count - 1][first].cost + cost + kClassCost;
        if (sum < steps[count][last].cost)
          steps[count][last] = {sum, first, schedule};
      }
    }
  size_t count = 1;
  for (size_t other = 2; other <= most; ++other)
    if (steps[other][numSamples].cost < steps[count][numSamples].cost)
      count = other;
  Partition best = {steps[count][numSamples].cost, {}};
  for (size_t last = numSamples; last > 0; --count) {
    const Step &step = steps[count][last];
    best.classes.push_back({last, step.schedule});
    last = step.first;
  }
  std::reverse(best.classes.begin(), best.classes.end());
  return best;
}

/// Those of `schedules` together that sum a row in the same order; all of them
/// if not `apart`.
static std::vector<std::vector<ScheduleFields>>
groupByTree(ArrayRef<ScheduleFields> schedules, bool apart) {
  std::vector<std::vector<ScheduleFields>> groups;
  for (const ScheduleFields &schedule : schedules) {
    auto group = llvm::find_if(groups, [&](const auto &group) {
      return !apart || haveSameTree(group.front(), schedule);
    });
    if (group == groups.end())
      group = groups.emplace(groups.end());
    group->push_back(schedule);
  }
  return groups;
}

SmallVector<RowClass, 2> mlir::rmsnorm::predictRows(const ProgramFacts &facts,
                                                    const ChipInfo &chip,
                                                    bool sameTree) {
  const std::vector<ScheduleFields> schedules = enumerateRows(facts, chip);
  if (schedules.size() == 1 || facts.singleRow) {
    size_t best = 0;
    const double work = getCallWork(facts, chip, 1);
    auto getCost = [&](size_t i) {
      return ScheduleCost(schedules[i], facts, chip).predict(1, work);
    };
    for (size_t i = 1; i < schedules.size(); ++i)
      if (getCost(i) < getCost(best))
        best = i;
    return {{kAnyRows, schedules[best]}};
  }
  // Rows of a size that only a call knows have classes of sizes already.
  const size_t most = facts.dynamicColumns ? 1 : kMaxClasses;
  const SmallVector<int64_t> samples = getSamples(facts, chip);
  SmallVector<RowClass, 2> classes;
  double least = INFINITY;
  for (const std::vector<ScheduleFields> &group :
       groupByTree(schedules, sameTree)) {
    const Classes::Partition partition =
        Classes(group, samples, facts, chip).partition(most);
    if (partition.cost >= least)
      continue;
    least = partition.cost;
    classes.clear();
    for (const auto &[end, schedule] : partition.classes)
      classes.push_back({end == samples.size() ? kAnyRows : samples[end - 1],
                         group[schedule]});
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
  if (facts.dynamicColumns)
    return "";
  const double work = getCallWork(facts, chip, rows);
  std::optional<ScheduleFields> other;
  double least = INFINITY;
  bool isKnown = false;
  ScheduleRequest request;
  request.alignment = schedule.alignment;
  request.smMargin = schedule.smMargin;
  for (ScheduleFields one : enumerateRows(facts, chip)) {
    setForRequest(one, request);
    if (one == schedule) {
      isKnown = true;
      continue;
    }
    const double cost = ScheduleCost(one, facts, chip).predict(rows, work);
    if (cost < least) {
      least = cost;
      other = one;
    }
  }
  if (!isKnown)
    return "";
  if (!other)
    return "the only one";
  const CostTerms own =
      ScheduleCost(schedule, facts, chip).predictTerms(rows, work);
  const CostTerms next =
      ScheduleCost(*other, facts, chip).predictTerms(rows, work);
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
  return text;
}
