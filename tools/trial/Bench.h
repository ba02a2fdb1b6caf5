// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bench.h - times calls of one shape --------------------------------===//

#ifndef TRIAL_BENCH_H
#define TRIAL_BENCH_H

#include "Run.h"

#include "rmsnorm/device.h"

#include <string>
#include <vector>

namespace trial {

/// Arguments of one shape on a device, several times over, and a stream.
class Bench {
public:
  Bench(rmsnorm_device *device, rmsnorm_backend backend)
      : device(device), backend(backend) {}
  ~Bench();
  Bench(const Bench &) = delete;

  /// Allocates and fills the arguments of `plan`. Returns false after an error
  /// of the runtime, which has the message; so do the others.
  bool allocate(const Plan &plan, uint64_t seed);

  /// The same for copies which read and write so many bytes together.
  bool allocateCopies(double bytes);

  /// A function to be timed, or copies if there is none, and how.
  struct Subject {
    rmsnorm_function *function = nullptr;
    rmsnorm_graph *graph = nullptr;
    /// Launches of one replay.
    int launches = 1;
    void *workspace = nullptr;
    uint64_t workspaceBytes = 0;
  };
  /// Prepares an entry, warms it up and records its launches.
  bool begin(rmsnorm_module *module, const char *entry, Subject &subject);
  /// The same for copies by the driver, of the first argument to the last.
  bool beginCopies(Subject &subject);
  /// Appends the microseconds of a launch in each of `replays` replays.
  bool replay(Subject &subject, int replays, std::vector<double> &times);
  void end(Subject &subject);
  /// Replays for a while, so that clocks are up when the first one is timed.
  bool warmUp(Subject &subject);
  /// The last error.
  std::string getError() const;

  /// The program and variant that the calls take, by number.
  bool getVariant(const Subject &subject, size_t &program, size_t &variant);

  /// Whether the device still answers.
  bool alive() { return !rmsnorm_stream_synchronize(device, stream); }

private:
  bool fill(void *memory, const rmsnorm_argument_info &info, uint64_t elements,
            uint64_t seed, bool isData, int64_t bound);
  /// One launch on the arguments of set `set`.
  bool launch(const Subject &subject, size_t set);
  bool launchAll(const Subject &subject);
  /// Warms up and records the prepared launches.
  bool start(Subject &subject);
  bool record(Subject &subject);

  rmsnorm_device *device;
  rmsnorm_backend backend;
  void *stream = nullptr;
  rmsnorm_event *before = nullptr, *after = nullptr;
  /// Of a launch that was recorded: ending the recording may fail, too.
  std::string recordError;
  std::vector<void *> blocks;
  /// Of each set, its arguments.
  std::vector<std::vector<DLTensor>> sets;
  std::vector<std::vector<int64_t>> shapes;
};

double median(std::vector<double> values);
/// Half of the values lie so far apart, as a share of the median.
double spread(std::vector<double> values);

} // namespace trial

#endif // TRIAL_BENCH_H
