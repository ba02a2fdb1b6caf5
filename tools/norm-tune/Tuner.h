// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tuner.h - finds the fastest schedule of an entry ------------------===//

#ifndef NORM_TUNE_TUNER_H
#define NORM_TUNE_TUNER_H

#include "../trial/Bench.h"
#include "Journal.h"
#include "Options.h"
#include "Space.h"

#include <memory>

namespace norm_tune {

/// The result for one entry and number of rows.
struct Finding {
  const Space *space;
  int64_t rows, columns;
  /// M depends on no run-time size.
  bool fixedRows;
  /// The schedules to use: null where the compiler's choice stands and is none
  /// of the candidates.
  const Candidate *best = nullptr;
  double microseconds = 0;
  /// The compiler's choice: variant, schedule, time.
  std::string chosenVariant, chosenSchedule;
  double chosenMicroseconds = 0;
  double bytes = 0;
  /// The candidates that take the call, which those of other classes of N do
  /// not, and their times; 0 for one that was left out.
  std::vector<const Candidate *> candidates;
  std::vector<double> times;
};

class Tuner {
public:
  Tuner(rmsnorm_module *module, rmsnorm_device *device, const Options &options,
        Journal &journal)
      : module(module), device(device), options(options), journal(journal) {}

  enum class Status { done, failed, outOfTime };
  /// Measures the candidates of `space` with about `rows` rows. After `failed`,
  /// `error` says why.
  Status tune(const Space &space, int64_t rows, Finding &finding);
  /// The number of rows that asking for `rows` gives; < 0 after an error.
  int64_t getRows(const Space &space, int64_t rows, bool &fixedRows);

  std::string error;

private:
  struct Contestant {
    const Candidate *candidate;
    double microseconds;
  };

  trial::Options getRunOptions(int64_t rows) const;
  /// Sizes for about `rows` rows of the entry of `candidate`; false after an
  /// error.
  bool planEntry(const Candidate &candidate, int64_t rows, trial::Plan &plan);
  Status fail(std::string text) {
    error = std::move(text);
    return Status::failed;
  }
  double getElapsed() const;
  bool outOfTime() const;
  bool isOnDevice() const {
    return options.run.backend == RMSNORM_CUDA ||
           options.run.backend == RMSNORM_HIP;
  }
  /// Makes the arguments, if nothing was measured with these rows yet.
  bool makeBench();
  /// Whether a call with about `asked` rows takes `candidate`, which may be for
  /// other sizes. One that cannot be asked is measured: what it fails with is
  /// said there, and it is left out.
  bool takesCall(const Candidate &candidate, int64_t asked);
  /// Runs a few rows and compares them with the oracle; "" if they are right.
  std::string check(const Candidate &candidate);
  /// Times one candidate; its calls take the variant `chosen`. Returns "" or an
  /// error.
  std::string time(const Candidate &candidate, int replays,
                   double &microseconds, std::string &chosen);
  /// Adds to the journal; false if it cannot be written.
  bool note(const std::string &name, long long rows, int round,
            const std::string &text);
  /// Times one in a round, unless that was done before. `good` is false if it
  /// fails, which is noted.
  Status measure(const Candidate &candidate, int round, int replays,
                 double &microseconds, bool &good);
  Status runRound(std::vector<Contestant> &contestants, int round, int replays);
  Status finish(const std::vector<Contestant> &contestants, Finding &finding);
  /// What the last round that a candidate took part in says of it.
  double getTime(const Candidate &candidate) const;
  void showProgress(int round, size_t done, size_t count, size_t leftOut,
                    double best);

  rmsnorm_module *module;
  rmsnorm_device *device;
  const Options &options;
  Journal &journal;
  const Space *space = nullptr;
  int64_t rows = 0;
  trial::Plan plan;
  std::unique_ptr<trial::Bench> bench;
  /// The reference of candidates, and the space that it was made for.
  std::shared_ptr<trial::Reference> reference;
  const Space *referenceOf = nullptr;
  size_t measured = 0;
  bool isWarm = false;
  double lastShown = 0;
};

} // namespace norm_tune

#endif // NORM_TUNE_TUNER_H
