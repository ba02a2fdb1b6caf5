// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-regret.cpp - chosen schedules against measured ones -----------===//
//
// Reads measurements of many schedules, a JSON object a line, what all
// have in common first:
//   {"target": "sm_90", "device": ..., ...}
//   {"program": "silu", "facts": "columns=4096,...", "rows": [1, 12],
//    "schedules": ["#rmsnorm.schedule<...>", ...], "us": [[1.2, null], ...]}
// A line of another device than the first one has a "device" of its own.
// `us` has a list for each number of rows, with a time for each schedule. Where
// only a call knows N, the facts are those of a class, and "columns" is the
// call's.
// Chooses schedules for the same programs, and prints how much longer than the
// fastest schedule of all they take: their regret. The records that come with
// the compiler are left out, as they are made of such measurements.
//
//===----------------------------------------------------------------------===//

#include "RMSNorm/Schedule/CostModel.h"
#include "RMSNorm/Schedule/ScheduleSpace.h"
#include "RMSNorm/Schedule/Select.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

using namespace mlir;
using namespace mlir::rmsnorm;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::init("-"),
                                  cl::desc("<measurements>"));
static cl::list<std::string>
    bars("bar", cl::CommaSeparated,
         cl::desc("fail if a figure is above a number: RANGE.FIGURE=NUMBER, as "
                  "'all.mean=5' or '100-1500.p90=13.5'"));
static cl::opt<size_t> numWorst("worst", cl::init(0),
                                cl::desc("print so many points, worst first"));

static cl::opt<bool>
    terms("terms", cl::desc("print the cost model's terms of each measurement "
                            "instead, as scripts/fit_schedules.py reads them"));

static cl::opt<bool> withRecords(
    "with-records",
    cl::desc("choose with the records that come with the compiler"));

static cl::opt<bool>
    records("records",
            cl::desc("print the best classes of rows of each program instead, "
                     "as lib/Schedule/Models has them"));

[[noreturn]] static void fail(const Twine &message) {
  llvm::errs() << "norm-regret: error: " << message << "\n";
  exit(1);
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

namespace {
/// A program of one width.
struct Measured {
  std::string program;
  ProgramFacts facts;
  int64_t columns;
  /// Where it was measured; "": as the first line says.
  std::string device;
  std::vector<int64_t> rows;
  std::vector<ScheduleFields> schedules;
  /// By number of rows and schedule; 0: not measured.
  std::vector<std::vector<double>> us;
};

/// A program and a number of rows.
struct Point {
  const Measured *measured;
  int64_t rows;
  ScheduleFields chosen;
  double best;
  /// 0: not measured.
  double us;

  double getRegret() const { return 100 * (us / best - 1); }
};
} // namespace

static ProgramFacts parseFacts(StringRef key) {
  ProgramFacts facts;
  SmallVector<StringRef> items;
  key.split(items, ',');
  for (StringRef item : items) {
    const auto [name, value] = item.split('=');
    int64_t number = kDynamicColumns;
    if (value != "?" && value.getAsInteger(10, number))
      fail("expected a number of a fact, got '" + item + "'");
    bool isKnown = false;
#define RMSNORM_PROGRAM_FACT(Type, member, text, Default)                      \
  if (name == #text) {                                                         \
    facts.member = Type(number);                                               \
    isKnown = true;                                                            \
  }
#include "RMSNorm/Schedule/ProgramFacts.def"
    if (!isKnown)
      fail("expected a fact, got '" + item + "'");
  }
  if (getProgramKey(facts) != key)
    fail("expected all facts in their order, got '" + key + "'");
  return facts;
}

static Measured parseMeasured(const llvm::json::Object &line) {
  Measured measured;
  measured.program = line.getString("program").value_or("").str();
  measured.facts = parseFacts(line.getString("facts").value_or(""));
  measured.columns =
      line.getInteger("columns").value_or(measured.facts.columns);
  measured.device = line.getString("device").value_or("").str();
  const llvm::json::Array *rows = line.getArray("rows");
  const llvm::json::Array *schedules = line.getArray("schedules");
  const llvm::json::Array *us = line.getArray("us");
  if (!rows || !schedules || schedules->empty() || !us ||
      us->size() != rows->size())
    fail(
        "expected 'rows', 'schedules' and a list in 'us' for each of the rows");
  for (const llvm::json::Value &value : *rows)
    measured.rows.push_back(value.getAsInteger().value_or(0));
  for (const llvm::json::Value &value : *schedules) {
    llvm::Expected<ScheduleFields> fields =
        ScheduleFields::parse(value.getAsString().value_or(""));
    if (!fields)
      fail(llvm::toString(fields.takeError()));
    measured.schedules.push_back(*fields);
  }
  for (const llvm::json::Value &value : *us) {
    std::vector<double> &times = measured.us.emplace_back();
    if (const llvm::json::Array *list = value.getAsArray())
      for (const llvm::json::Value &time : *list)
        times.push_back(time.getAsNumber().value_or(0));
    if (times.size() != measured.schedules.size())
      fail("expected a time or null for each schedule");
    if (llvm::none_of(times, [](double time) { return time > 0; }))
      fail("expected a time of some schedule");
  }
  return measured;
}

/// `schedule` for rows of another alignment, which they have from the call.
static ScheduleFields withAlignment(ScheduleFields schedule,
                                    int64_t alignment) {
  schedule.alignment = alignment;
  if (schedule.sums)
    schedule.sums = withAlignment(*schedule.sums, alignment);
  return schedule;
}

/// What is measured of calls with the same rows.
using Call = std::tuple<std::string, int64_t, int64_t>;

static Call getCall(const Measured &measured, int64_t rows) {
  return {measured.program, measured.columns, rows};
}

/// The class of N that a call's rows are in, where only the call knows N; else
/// N.
static int64_t getClass(ProgramFacts facts, int64_t columns,
                        const ChipInfo &chip) {
  if (!facts.dynamicColumns)
    return columns;
  facts.columns = kDynamicColumns;
  const SmallVector<int64_t, 3> bounds = getColumnBounds(facts, chip);
  const int64_t bound = *llvm::lower_bound(bounds, columns);
  return bound == kAnyColumns ? kDynamicColumns : bound;
}

/// The time of `schedule` among `times` of those that were measured; 0: none.
static double getTime(const Measured &measured, ArrayRef<double> times,
                      const ScheduleFields &schedule) {
  double found = 0;
  for (const auto &[other, time] : llvm::zip_equal(measured.schedules, times)) {
    if (other == schedule)
      return time;
    // Some schedules were measured with the alignment of others.
    if (time > 0 && withAlignment(other, schedule.alignment) == schedule)
      found = time;
  }
  return found;
}

/// What is chosen for all numbers of rows of a program, beside the `best` times
/// of the calls.
static void addPoints(const Measured &measured, const ChipInfo &chip,
                      const std::map<Call, double> &best,
                      std::map<Call, Point> &points) {
  // What was chosen when times were measured comes first.
  ScheduleRequest request;
  request.alignment = measured.schedules.front().alignment;
  request.useRecords = withRecords;
  ProgramFacts facts = measured.facts;
  facts.columns = getClass(facts, measured.columns, chip);
  OrRefusal<Selection> selection = selectSchedules(facts, chip, request);
  if (!selection)
    fail(measured.program + ": " + selection.getRefusal().getMessage());
  for (const auto &[rows, times] :
       llvm::zip_equal(measured.rows, measured.us)) {
    const Call call = getCall(measured, rows);
    Point point{&measured, rows, selection->getFor(rows), best.at(call), 0};
    // Another line of the same call may be of the class. Where nothing of a row
    // is held the code is that of a larger class, too.
    if (facts.columns == measured.facts.columns ||
        !holdsColumns(point.chosen, facts))
      point.us = getTime(measured, times, point.chosen);
    auto [known, isNew] = points.try_emplace(call, point);
    if (known->second.us == 0)
      known->second = point;
  }
}

/// A line a measurement: program, whether it sums over rows, columns, rows,
/// whether the schedule is one of those that selection chooses from, its time,
/// and the cost model's terms.
static void printTerms(const Measured &measured, const ChipInfo &chip) {
  const std::vector<ScheduleFields> space =
      enumerateSchedules(measured.facts, chip, Selection());
  for (auto [index, schedule] : llvm::enumerate(measured.schedules)) {
    const bool isIn = llvm::is_contained(
        space, withAlignment(schedule, ScheduleFields().alignment));
    const ScheduleCost cost(schedule, measured.facts, chip, measured.columns);
    for (auto [rows, times] : llvm::zip(measured.rows, measured.us)) {
      if (times[index] <= 0)
        continue;
      llvm::outs() << measured.program << " "
                   << (measured.facts.numColumnSums > 0) << " "
                   << stringifyRowAccess(getRowAccess(measured.facts, chip))
                   << " " << measured.columns << " " << rows << " " << isIn
                   << " " << times[index] << " "
                   << getCallWork(measured.facts, chip, rows, measured.columns);
      for (double term : cost.getTerms(rows))
        llvm::outs() << " " << term;
      llvm::outs() << "\n";
    }
  }
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// A record must save so much of the cost of a number of rows, in the mean.
static constexpr double kLeastGain = 0.005;
/// The same of a schedule that was not measured with about as many rows: a
/// quarter to four times as many are others.
static constexpr double kUnknown = 1;
static constexpr double kOthers = 4;

namespace {
/// What is known of a program: the best time and the others by number of rows.
struct Known {
  std::vector<ScheduleFields> schedules;
  std::map<int64_t, std::vector<double>> us;
  /// Where it was measured, by number of rows, and all these places.
  std::map<int64_t, std::string> deviceOf;
  std::vector<std::string> devices;

  /// Takes schedules that selection can choose, without their alignment, which
  /// they have from the call.
  void add(const Measured &measured, const ChipInfo &chip, StringRef device);
  /// The logarithms of the times over the best, by rows and schedule; of those
  /// that were not measured those of about as many rows on the same device.
  std::vector<std::vector<double>> getLosses() const;
};
} // namespace

void Known::add(const Measured &measured, const ChipInfo &chip,
                StringRef device) {
  if (!llvm::is_contained(devices, device))
    devices.push_back(device.str());
  for (int64_t rows : measured.rows)
    deviceOf.try_emplace(rows, device);
  const std::vector<ScheduleFields> space =
      enumerateSchedules(measured.facts, chip, Selection());
  for (auto [index, own] : llvm::enumerate(measured.schedules)) {
    const ScheduleFields schedule =
        withAlignment(own, ScheduleFields().alignment);
    if (!llvm::is_contained(space, schedule))
      continue;
    const size_t place =
        std::distance(schedules.begin(), llvm::find(schedules, schedule));
    if (place == schedules.size())
      schedules.push_back(schedule);
    for (auto [rows, times] : llvm::zip_equal(measured.rows, measured.us)) {
      std::vector<double> &all = us[rows];
      all.resize(std::max(all.size(), place + 1));
      if (all[place] == 0)
        all[place] = times[index];
    }
  }
}

static double getBest(ArrayRef<double> times) {
  double best = INFINITY;
  for (double time : times)
    if (time > 0)
      best = std::min(best, time);
  return best;
}

std::vector<std::vector<double>> Known::getLosses() const {
  std::vector<std::vector<double>> costs;
  for (const auto &[rows, times] : us) {
    std::vector<double> &all = costs.emplace_back(schedules.size(), kUnknown);
    for (auto [place, cost] : llvm::enumerate(all)) {
      double nearest = std::log(kOthers);
      for (const auto &[others, measured] : us) {
        const double away = std::abs(std::log(double(others) / rows));
        if (place >= measured.size() || measured[place] == 0 ||
            away >= nearest || deviceOf.at(others) != deviceOf.at(rows))
          continue;
        nearest = away;
        cost = std::log(measured[place] / getBest(measured));
      }
    }
  }
  return costs;
}

/// Prints the best classes of a program, if they are better than those that the
/// cost model chooses. A number of rows that the model looks at, or would
/// beyond them, has the losses of the nearest one that was measured, so that a
/// class costs as much beside what it gains, however many were measured.
static void printRecord(const ProgramFacts &facts, const Known &known,
                        const ChipInfo &chip) {
  const std::vector<std::vector<double>> measured = known.getLosses();
  SmallVector<int64_t> samples = getRowSamples(facts, chip, facts.columns);
  while (samples.back() < known.us.rbegin()->first)
    samples.push_back(std::ceil(samples.back() * std::sqrt(2.)));
  std::vector<std::vector<double>> losses;
  for (int64_t rows : samples) {
    size_t nearest = 0, place = 0;
    double least = INFINITY;
    for (const auto &[others, times] : known.us) {
      const double away = std::abs(std::log(double(others) / rows));
      if (away < least) {
        least = away;
        nearest = place;
      }
      ++place;
    }
    losses.push_back(measured[nearest]);
  }
  const CostPartition best = partitionCosts(losses, facts);
  ScheduleRequest request;
  request.useRecords = false;
  OrRefusal<Selection> selection = selectSchedules(facts, chip, request);
  if (!selection)
    fail(selection.getRefusal().getMessage());
  // The same costs of what is chosen without a record.
  double cost = getClassCost(facts) * selection->classes.size();
  for (auto [rows, of] : llvm::zip_equal(samples, losses)) {
    const size_t chosen =
        std::distance(known.schedules.begin(),
                      llvm::find(known.schedules, selection->getFor(rows)));
    cost +=
        getLossCost(chosen < known.schedules.size() ? of[chosen] : kUnknown);
  }
  if (cost - best.cost < kLeastGain * samples.size())
    return;
  llvm::outs() << "{\"" << chip.name << "\",\n \""
               << llvm::join(known.devices, ", ") << "\",\n \""
               << getProgramKey(facts) << "\",\n {";
  llvm::ListSeparator separator(",\n  ");
  for (const auto &[end, schedule] : best.classes) {
    llvm::outs() << separator << "{";
    if (end == samples.size())
      llvm::outs() << "kAnyRows";
    else
      llvm::outs() << samples[end - 1];
    llvm::outs() << ", \"";
    known.schedules[schedule].print(llvm::outs());
    llvm::outs() << "\"}";
  }
  llvm::outs() << "}},\n";
}

/// A record for each program, in the order of their measurements. Where only
/// a call knows N, few of its values were measured.
static void printRecords(ArrayRef<Measured> all, const ChipInfo &chip,
                         StringRef device) {
  llvm::outs() << "// Written by norm-regret --records, do not edit.\n";
  std::vector<const Measured *> programs;
  std::map<std::string, Known> known;
  for (const Measured &measured : all) {
    if (measured.facts.dynamicColumns)
      continue;
    const std::string key = getProgramKey(measured.facts);
    if (!known.count(key))
      programs.push_back(&measured);
    known[key].add(measured, chip,
                   measured.device.empty() ? device : measured.device);
  }
  for (const Measured *first : programs) {
    const Known &own = known[getProgramKey(first->facts)];
    if (!own.schedules.empty())
      printRecord(first->facts, own, chip);
  }
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

namespace {
/// The figures of all points of some numbers of rows, by name.
struct Figures {
  std::string range;
  std::map<std::string, double> values;
};
} // namespace

static double getQuantile(ArrayRef<double> sorted, double share) {
  return sorted[std::min<size_t>(sorted.size() - 1, share * sorted.size())];
}

/// The kinds of programs that have figures of their own: those whose N only
/// a call knows, those that sum over rows, and the others; of the last two
/// those that access rows in whole vectors, and those that do not; and those
/// that take rows apart.
static StringRef getKind(const Point &point, const ChipInfo &chip) {
  const ProgramFacts &facts = point.measured->facts;
  if (facts.dynamicColumns)
    return "dynamic-";
  const bool sums = facts.numColumnSums > 0;
  switch (getRowAccess(facts, chip)) {
  case RowAccess::parts:
    return "parts-";
  case RowAccess::narrow:
    return sums ? "narrow-sums-" : "narrow-";
  case RowAccess::whole:
    return sums ? "sums-" : "";
  }
  llvm_unreachable("unknown access");
}

/// Of points whose choice was not measured nothing but their number is known.
static Figures getFigures(StringRef range, ArrayRef<Point> points,
                          int64_t first, int64_t last, StringRef kind,
                          const ChipInfo &chip) {
  std::vector<double> regrets;
  size_t unmeasured = 0;
  for (const Point &point : points) {
    if (point.rows < first || point.rows > last || getKind(point, chip) != kind)
      continue;
    if (point.us > 0)
      regrets.push_back(point.getRegret());
    else
      ++unmeasured;
  }
  llvm::sort(regrets);
  Figures figures{(kind + range).str(), {}};
  figures.values = {{"points", double(regrets.size())},
                    {"unmeasured", double(unmeasured)}};
  if (regrets.empty())
    return figures;
  figures.values["mean"] =
      std::accumulate(regrets.begin(), regrets.end(), 0.) / regrets.size();
  figures.values["median"] = getQuantile(regrets, 0.5);
  figures.values["p90"] = getQuantile(regrets, 0.9);
  figures.values["p99"] = getQuantile(regrets, 0.99);
  figures.values["worst"] = regrets.back();
  return figures;
}

static void print(const Figures &figures) {
  llvm::outs() << llvm::left_justify(figures.range, 16);
  for (const char *name :
       {"points", "mean", "median", "p90", "p99", "worst", "unmeasured"})
    if (auto found = figures.values.find(name); found != figures.values.end())
      llvm::outs() << "  " << name << " "
                   << llvm::format(found->second == std::floor(found->second)
                                       ? "%.0f"
                                       : "%.1f",
                                   found->second);
  llvm::outs() << "\n";
}

/// Returns false, and says so, if a figure is above its bar.
static bool check(ArrayRef<Figures> all, StringRef bar) {
  const auto [figure, limit] = bar.split('=');
  const auto [range, name] = figure.split('.');
  double most;
  const Figures *found = llvm::find_if(
      all, [range = range](const Figures &f) { return f.range == range; });
  if (limit.getAsDouble(most) || found == all.end() ||
      !found->values.count(name.str()))
    fail("--bar: expected RANGE.FIGURE=NUMBER of what is printed, got '" + bar +
         "'");
  const double value = found->values.at(name.str());
  if (value <= most)
    return true;
  llvm::errs() << "norm-regret: error: expected at most " << bar << ", got "
               << llvm::format("%.2f", value) << "\n";
  return false;
}

static void print(const Point &point) {
  llvm::outs() << point.measured->program << ", " << point.measured->columns
               << " columns, " << point.rows << " rows: ";
  if (point.us > 0)
    llvm::outs() << llvm::format("%.3f us, best %.3f (%.1f%%): ", point.us,
                                 point.best, point.getRegret());
  else
    llvm::outs() << "not measured: ";
  point.chosen.print(llvm::outs());
  llvm::outs() << "\n";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(
      argc, argv, "What chosen schedules lose against measured ones\n");
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (!file)
    fail(input + ": " + file.getError().message());
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  const ChipInfo *chip = nullptr;
  std::string device;
  std::vector<Measured> all;
  for (StringRef line : lines) {
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
    if (!value)
      fail("expected a JSON object a line: " +
           llvm::toString(value.takeError()));
    const llvm::json::Object *object = value->getAsObject();
    if (!object)
      fail("expected a JSON object a line");
    if (chip) {
      all.push_back(parseMeasured(*object));
      continue;
    }
    StringRef target = object->getString("target").value_or("");
    target.consume_front("sim:");
    device = object->getString("device").value_or(target).str();
    chip = lookupChip(target);
    if (!chip)
      fail("expected a chip as 'target' in the first line");
  }
  if (all.empty())
    fail("expected measurements");

  if (terms) {
    llvm::outs() << "program sums_over_rows row_access columns rows "
                    "in_space us work";
    for (size_t i = 0; i < kNumCostTerms; ++i)
      llvm::outs() << " " << stringifyCostTerm(CostTerm(i));
    llvm::outs() << "\n";
    for (const Measured &measured : all)
      printTerms(measured, *chip);
    return 0;
  }

  if (records) {
    printRecords(all, *chip, device);
    return 0;
  }

  std::map<Call, double> best;
  for (const Measured &measured : all)
    for (const auto &[rows, times] : llvm::zip(measured.rows, measured.us))
      for (double time : times)
        if (double &least = best[getCall(measured, rows)];
            time > 0 && (least == 0 || time < least))
          least = time;
  std::map<Call, Point> byCall;
  for (const Measured &measured : all)
    addPoints(measured, *chip, best, byCall);
  std::vector<Point> points;
  for (const auto &[call, point] : byCall)
    points.push_back(point);
  // What was not measured comes first: somebody may want to measure it.
  std::vector<Point> sorted = points;
  llvm::stable_sort(sorted, [](const Point &a, const Point &b) {
    return std::pair(a.us > 0, -a.getRegret()) <
           std::pair(b.us > 0, -b.getRegret());
  });
  for (const Point &point : sorted)
    if (point.us == 0)
      print(point);
  size_t left = numWorst;
  for (const Point &point : sorted)
    if (point.us > 0 && left > 0) {
      print(point);
      --left;
    }

  std::vector<Figures> figures;
  for (StringRef kind :
       {"", "sums-", "narrow-", "narrow-sums-", "parts-", "dynamic-"}) {
    if (llvm::none_of(points, [&](const Point &point) {
          return getKind(point, *chip) == kind;
        }))
      continue;
    figures.push_back(getFigures("all", points, 1, kAnyRows, kind, *chip));
    figures.push_back(getFigures("1-99", points, 1, 99, kind, *chip));
    figures.push_back(getFigures("100-1500", points, 100, 1500, kind, *chip));
    figures.push_back(getFigures("1501-", points, 1501, kAnyRows, kind, *chip));
  }
  for (const Figures &some : figures)
    print(some);
  llvm::outs().flush();
  bool isGood = true;
  for (const std::string &bar : bars)
    isGood &= check(figures, bar);
  return !isGood;
}
