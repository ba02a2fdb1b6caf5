// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tuner.cpp - finds the fastest schedule of an entry ----------------===//

#include "Tuner.h"
#include "../trial/Check.h"
#include "../trial/Memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace norm_tune {

trial::Options Tuner::getRunOptions(int64_t rows) const {
  trial::Options run = options.run;
  run.rows = rows;
  run.repeat = 1;
  return run;
}

double Tuner::getElapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                       options.start)
      .count();
}

bool Tuner::outOfTime() const {
  // Something is measured each time, so that runs again and again end.
  return options.timeLimit >= 0 && measured > 0 &&
         getElapsed() >= options.timeLimit;
}

bool Tuner::planEntry(const Candidate &candidate, int64_t rows,
                      trial::Plan &plan) {
  plan = {};
  error = trial::planEntry(module, candidate.entry, getRunOptions(rows), plan);
  return error.empty();
}

int64_t Tuner::getRows(const Space &space, int64_t rows, bool &fixedRows) {
  trial::Plan plan;
  int64_t columns;
  if (planEntry(space.plain, rows, plan))
    error = trial::checkMemory(
        plan,
        trial::getBenchNeed(plan, options.run.backend, /*hasCopies=*/false),
        device);
  return error.empty() ? trial::countRows(plan, fixedRows, columns) : -1;
}

bool Tuner::takesCall(const Candidate &candidate, int64_t asked) {
  trial::Plan call;
  rmsnorm_variant_info variant;
  return !planEntry(candidate, asked, call) ||
         !trial::findVariant(call, device, variant).empty() ||
         variant.name == std::string("candidate");
}

std::string Tuner::check(const Candidate &candidate) {
  // The reference is made once for all candidates of a space: the oracle takes
  // longer than the candidates.
  if (referenceOf != space)
    reference = nullptr;
  referenceOf = space;
  trial::Result result;
  return trial::checkFewRows(module, candidate.entry, device, options.run,
                             reference, result);
}

bool Tuner::makeBench() {
  if (bench)
    return true;
  bench = std::make_unique<trial::Bench>(device, options.run.backend);
  bool good = bench->allocate(plan, options.run.seed);
  if (good && isOnDevice() && !isWarm) {
    trial::Bench::Subject subject;
    good = bench->begin(module, space->plain.name.c_str(), subject) &&
           bench->warmUp(subject);
    bench->end(subject);
    isWarm = true;
  }
  if (!good)
    fail("entry '" + space->plain.name + "', " + std::to_string(rows) +
         " rows: " + bench->getError());
  return good;
}

std::string Tuner::time(const Candidate &candidate, int replays,
                        double &microseconds, std::string &chosen) {
  trial::Bench::Subject subject;
  std::vector<double> times;
  size_t program = 0, variant = 0;
  bool good = bench->begin(module, candidate.name.c_str(), subject) &&
              bench->replay(subject, replays, times) &&
              bench->getVariant(subject, program, variant);
  std::string why = good ? "" : bench->getError();
  bench->end(subject);
  microseconds = trial::median(times);
  chosen = std::to_string(program) + " " + std::to_string(variant);
  return why;
}

bool Tuner::note(const std::string &name, long long rows, int round,
                 const std::string &text) {
  error = journal.add(name, rows, round, text);
  return error.empty();
}

Tuner::Status Tuner::measure(const Candidate &candidate, int round, int replays,
                             double &microseconds, bool &good) {
  good = true;
  if (const std::string *text = journal.find(candidate.name, rows, round)) {
    microseconds = std::atof(text->c_str());
    return Status::done;
  }
  if (outOfTime())
    return Status::outOfTime;
  ++measured;
  if (!makeBench())
    return Status::failed;
  const bool isPlain = &candidate == &space->plain;
  std::string why, chosen;
  // A kernel may never end; then the user ends the program. One that was not at
  // fault gets another chance.
  if (round == 0) {
    const std::string *text =
        journal.find(candidate.name, rows, Journal::begun);
    const int before = text ? std::atoi(text->c_str()) : 0;
    if (before >= 2)
      why = std::string("begun twice and never done") +
            (isPlain ? "; to try again, remove the results so far" : "");
    else if (!note(candidate.name, rows, Journal::begun,
                   std::to_string(before + 1)))
      return Status::failed;
  }
  if (why.empty() && !isPlain &&
      !journal.find(candidate.name, 0, Journal::right)) {
    why = check(candidate);
    if (why.empty() && !note(candidate.name, 0, Journal::right, "right"))
      return Status::failed;
  }
  if (why.empty())
    why = time(candidate, replays, microseconds, chosen);
  if (why.empty()) {
    char text[64];
    std::snprintf(text, sizeof text, "%.6g", microseconds);
    microseconds = std::atof(text); // as it will be read again
    bool noted =
        (!isPlain || note(candidate.name, rows, Journal::chosen, chosen)) &&
        note(candidate.name, rows, round, text);
    return noted ? Status::done : Status::failed;
  }
  if (isPlain)
    return fail("entry '" + candidate.name + "': " + why);
  good = false;
  std::fprintf(stderr, "%snorm-tune: warning: %s, %s: %s\n",
               isatty(STDERR_FILENO) ? "\r\033[K" : "", candidate.name.c_str(),
               candidate.schedule.c_str(), why.c_str());
  if (!note(candidate.name, 0, Journal::leftOut, why))
    return Status::failed;
  if (!bench->alive())
    return fail("the device is lost after '" + candidate.name +
                "': " + rmsnorm_last_error() +
                "; run again to go on, without this schedule");
  return Status::done;
}

void Tuner::showProgress(int round, size_t done, size_t count, size_t leftOut,
                         double best) {
  // Elsewhere than on a terminal a line now and then.
  const bool watched = isatty(STDERR_FILENO), ends = done == count;
  const double now = getElapsed();
  if (!watched && !ends && now < lastShown + 5)
    return;
  lastShown = now;
  std::fprintf(stderr, "%s%s, %lld rows, round %d: %zu of %zu, ",
               watched ? "\r\033[K" : "", space->plain.name.c_str(),
               (long long)rows, round + 1, done, count);
  if (leftOut)
    std::fprintf(stderr, "%zu left out, ", leftOut);
  std::fprintf(stderr, "best %.4g us, %.1f s%s", best, now,
               ends || !watched ? "\n" : "");
}

Tuner::Status Tuner::runRound(std::vector<Contestant> &contestants, int round,
                              int replays) {
  std::vector<Contestant> kept;
  double best = 0;
  size_t done = 0;
  for (Contestant one : contestants) {
    bool good = !journal.find(one.candidate->name, 0, Journal::leftOut);
    if (good)
      if (Status status =
              measure(*one.candidate, round, replays, one.microseconds, good);
          status != Status::done)
        return status;
    if (good) {
      kept.push_back(one);
      best = best ? std::min(best, one.microseconds) : one.microseconds;
    }
    ++done;
    showProgress(round, done, contestants.size(), done - kept.size(), best);
  }
  // The compiler's own choice stays the first, the others by time.
  if (!kept.empty())
    std::stable_sort(kept.begin() + 1, kept.end(),
                     [](const Contestant &a, const Contestant &b) {
                       return a.microseconds < b.microseconds;
                     });
  contestants = std::move(kept);
  return Status::done;
}

/// Leaves the first, and at most `most` others that are within `factor` of the
/// best.
template <typename Contestants>
static void narrow(Contestants &contestants, size_t most, double factor) {
  if (contestants.size() < 2)
    return;
  double limit = contestants[1].microseconds * factor;
  size_t kept = 1;
  while (kept < contestants.size() && kept <= most &&
         contestants[kept].microseconds <= limit)
    ++kept;
  contestants.resize(kept);
}

Tuner::Status Tuner::tune(const Space &tuned, int64_t asked, Finding &finding) {
  space = &tuned;
  bench.reset();
  if (!planEntry(tuned.plain, asked, plan))
    return Status::failed;
  finding = {};
  finding.space = space;
  rows = finding.rows =
      trial::countRows(plan, finding.fixedRows, finding.columns);
  finding.bytes = getBytesPerCall(plan);

  std::vector<Contestant> contestants = {{&tuned.plain, 0}};
  for (const Candidate &candidate : tuned.candidates)
    if (takesCall(candidate, asked)) {
      contestants.push_back({&candidate, 0});
      finding.candidates.push_back(&candidate);
    }
  Status status = runRound(contestants, 0, 3);
  if (status == Status::done && isOnDevice()) {
    narrow(contestants, 12, 1.15);
    status = runRound(contestants, 1, 9);
  }
  if (status == Status::done && isOnDevice()) {
    narrow(contestants, 4, 1.05);
    status = runRound(contestants, 2, 41);
  }
  for (const Candidate *candidate : finding.candidates)
    finding.times.push_back(getTime(*candidate));
  // The next shape may need the memory.
  bench.reset();
  return status == Status::done ? finish(contestants, finding) : status;
}

double Tuner::getTime(const Candidate &candidate) const {
  double microseconds = 0;
  if (journal.find(candidate.name, 0, Journal::leftOut))
    return microseconds;
  for (int round : {0, 1, 2})
    if (const std::string *text = journal.find(candidate.name, rows, round))
      microseconds = std::atof(text->c_str());
  return microseconds;
}

Tuner::Status Tuner::finish(const std::vector<Contestant> &contestants,
                            Finding &finding) {
  // The compiler's own choice, which stands unless clearly beaten.
  const std::string *numbers =
      journal.find(space->plain.name, rows, Journal::chosen);
  unsigned long program = 0, number = 0;
  rmsnorm_variant_info variant;
  if (!numbers ||
      std::sscanf(numbers->c_str(), "%lu %lu", &program, &number) != 2)
    return fail("entry '" + space->plain.name +
                "': the results so far are damaged; remove them");
  if (rmsnorm_module_get_variant(module, space->plain.entry, program, number,
                                 &variant))
    return fail("entry '" + space->plain.name + "': " + rmsnorm_last_error());
  finding.chosenVariant = variant.name;
  finding.chosenSchedule = variant.schedule;
  finding.chosenMicroseconds = contestants[0].microseconds;
  finding.microseconds = finding.chosenMicroseconds;
  // Schedules of several kernels stand one after another.
  const std::string chosen = "; " + finding.chosenSchedule + "; ";
  auto isChosen = [&](const Candidate &candidate) {
    return chosen.find("; " + candidate.schedule + "; ") != std::string::npos;
  };
  if (contestants.size() > 1 && !isChosen(*contestants[1].candidate) &&
      contestants[1].microseconds * (1 + options.margin / 100) <
          finding.chosenMicroseconds) {
    finding.best = contestants[1].candidate;
    finding.microseconds = contestants[1].microseconds;
    return Status::done;
  }
  for (const Candidate *candidate : finding.candidates)
    if (isChosen(*candidate) &&
        !journal.find(candidate->name, 0, Journal::leftOut))
      finding.best = candidate;
  return Status::done;
}

} // namespace norm_tune
