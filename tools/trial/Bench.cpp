// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bench.cpp - times calls of one shape ------------------------------===//

#include "Bench.h"
#include "Memory.h"
#include "Values.h"

#include <algorithm>
#include <cmath>

namespace trial {

// Long against the cost of starting a graph, short against a change of clocks.
static constexpr double replayMicroseconds = 1000;
static constexpr double warmUpMicroseconds = 300e3;
static constexpr uint64_t patternElements = 1 << 18;

static uint64_t alignUp(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double spread(std::vector<double> values) {
  const double middle = median(values);
  if (middle <= 0)
    return 0;
  std::sort(values.begin(), values.end());
  return (values[values.size() * 3 / 4] - values[values.size() / 4]) / middle;
}

Bench::~Bench() {
  for (void *block : blocks)
    rmsnorm_device_free(device, block);
  rmsnorm_event_destroy(before);
  rmsnorm_event_destroy(after);
  if (stream)
    rmsnorm_stream_destroy(device, stream);
}

/// Random numbers, repeated. Their values do not matter; that they differ
/// matters, to the power that a device draws.
bool Bench::fill(void *memory, const rmsnorm_argument_info &info,
                 uint64_t elements, uint64_t seed, bool isData, int64_t bound) {
  Format format;
  if (!getFormat(info.dtype, format))
    return true;
  uint64_t count = std::min(elements, patternElements);
  std::vector<unsigned char> pattern(uint64_t(format.getBytes(int64_t(count))));
  for (uint64_t i = 0; i < count; ++i) {
    double value = normal(mix(seed, i));
    if (bound >= 0)
      value = double(info.distinct ? pickDistinctIndex(seed, i, bound)
                                   : pickIndex(seed, i, bound));
    else if (!isData)
      value = 1 + 0.25 * value;
    encode(format, value, pattern.data(), int64_t(i));
  }
  auto *begin = static_cast<unsigned char *>(memory);
  if (rmsnorm_device_copy(device, begin, pattern.data(), pattern.size(),
                          RMSNORM_HOST_TO_DEVICE, stream))
    return false;
  const uint64_t all = uint64_t(format.getBytes(int64_t(elements)));
  for (uint64_t done = pattern.size(); done < all; done += pattern.size())
    if (rmsnorm_device_copy(device, begin + done, begin,
                            std::min<uint64_t>(pattern.size(), all - done),
                            RMSNORM_DEVICE_TO_DEVICE, stream))
      return false;
  return true;
}

bool Bench::allocate(const Plan &plan, uint64_t seed) {
  rmsnorm_device_info info;
  if (rmsnorm_device_get_info(device, &info) ||
      rmsnorm_stream_create(device, &stream) ||
      rmsnorm_event_create(device, &before) ||
      rmsnorm_event_create(device, &after))
    return false;
  shapes = plan.shapes;
  uint64_t setBytes = 0;
  std::vector<uint64_t> elements(plan.arguments.size(), 1), offsets;
  bool hasTile = false;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const rmsnorm_argument_info &argument = plan.arguments[i];
    for (int64_t size : shapes[i])
      elements[i] *= uint64_t(size);
    uint64_t size = elements[i] * argument.dtype.bits / 8;
    offsets.push_back(setBytes);
    setBytes += alignUp(size);
    hasTile |= argument.rank >= 2;
  }
  const uint64_t count = countSets(backend, setBytes);
  for (uint64_t s = 0; s < count; ++s) {
    void *block = nullptr;
    if (rmsnorm_device_allocate(device, setBytes, &block))
      return false;
    blocks.push_back(block);
    sets.emplace_back();
    for (size_t i = 0; i < plan.arguments.size(); ++i) {
      const rmsnorm_argument_info &argument = plan.arguments[i];
      DLTensor tensor = {};
      tensor.data = static_cast<char *>(block) + offsets[i];
      tensor.device = info.dl_device;
      tensor.ndim = argument.rank;
      tensor.dtype = argument.dtype;
      tensor.shape = shapes[i].data();
      sets.back().push_back(tensor);
      if (s == 0 && argument.role != RMSNORM_OUTPUT &&
          !fill(tensor.data, argument, elements[i], mix(seed, i),
                argument.rank >= 2 || !hasTile, plan.bounds[i]))
        return false;
    }
    // Making numbers takes longer than all that is measured.
    if (s > 0 && rmsnorm_device_copy(device, block, blocks[0], setBytes,
                                     RMSNORM_DEVICE_TO_DEVICE, stream))
      return false;
  }
  return !rmsnorm_stream_synchronize(device, stream);
}

bool Bench::allocateCopies(double bytes) {
  Plan plan = {};
  rmsnorm_argument_info half = {};
  half.dtype = {kDLFloat, 32, 1};
  half.rank = 1;
  // Whole accesses of any kernel.
  const int64_t elements = std::max<int64_t>(64, int64_t(bytes / 8) / 64 * 64);
  for (rmsnorm_role role : {RMSNORM_INPUT, RMSNORM_OUTPUT}) {
    half.role = role;
    plan.arguments.push_back(half);
    plan.shapes.push_back({elements});
    plan.bounds.push_back(-1);
  }
  return allocate(plan, /*seed=*/1);
}

bool Bench::launch(const Subject &subject, size_t set) {
  if (!subject.function) {
    const std::vector<DLTensor> &tensors = sets[set % sets.size()];
    const uint64_t bytes = uint64_t(shapes.front().front()) * sizeof(float);
    return !rmsnorm_device_copy(device, tensors.back().data,
                                tensors.front().data, bytes,
                                RMSNORM_DEVICE_TO_DEVICE, stream);
  }
  DLTensor *arguments[64];
  size_t count = 0;
  for (DLTensor &tensor : sets[set % sets.size()])
    arguments[count++] = &tensor;
  return !rmsnorm_launch(subject.function, arguments, count, subject.workspace,
                         subject.workspaceBytes, stream);
}

bool Bench::launchAll(const Subject &subject) {
  if (subject.graph)
    return !rmsnorm_graph_launch(subject.graph, stream);
  for (int i = 0; i < subject.launches; ++i)
    if (!launch(subject, size_t(i)))
      return false;
  return true;
}

bool Bench::record(Subject &subject) {
  if (rmsnorm_graph_begin(device, stream)) {
    // Without graphs the launches are put there one by one.
    subject.graph = nullptr;
    return true;
  }
  bool good = launchAll(subject);
  recordError = good ? "" : rmsnorm_last_error();
  return !rmsnorm_graph_end(device, stream, &subject.graph) && good;
}

std::string Bench::getError() const {
  return recordError.empty() ? rmsnorm_last_error() : recordError;
}

bool Bench::warmUp(Subject &subject) {
  double done = 0;
  while (done < warmUpMicroseconds) {
    std::vector<double> times;
    if (!replay(subject, 1, times))
      return false;
    done += std::max(times[0] * subject.launches, 100.0);
  }
  return true;
}

bool Bench::begin(rmsnorm_module *module, const char *entry, Subject &subject) {
  subject = {};
  recordError.clear();
  if (rmsnorm_prepare(module, entry, device, &subject.function))
    return false;
  DLTensor *arguments[64];
  size_t count = 0;
  for (DLTensor &tensor : sets[0])
    arguments[count++] = &tensor;
  if (rmsnorm_workspace_size(subject.function, arguments, count,
                             &subject.workspaceBytes) ||
      rmsnorm_device_allocate(device, subject.workspaceBytes,
                              &subject.workspace))
    return false;
  return start(subject);
}

bool Bench::beginCopies(Subject &subject) {
  subject = {};
  recordError.clear();
  return start(subject);
}

bool Bench::start(Subject &subject) {
  if (backend != RMSNORM_CUDA && backend != RMSNORM_HIP)
    return true;
  // Once for faults, then a few to know how long they take.
  std::vector<double> times;
  if (!launch(subject, 0) || !alive())
    return false;
  subject.launches = 4;
  if (!replay(subject, 3, times))
    return false;
  double most = std::max<double>(4, double(sets.size()));
  subject.launches = int(
      std::clamp(std::ceil(replayMicroseconds / std::max(median(times), 0.5)),
                 most, std::max(most, 1024.0)));
  // Whole rounds of the sets.
  subject.launches -= subject.launches % int(sets.size());
  return record(subject) && launchAll(subject) && alive();
}

bool Bench::replay(Subject &subject, int replays, std::vector<double> &times) {
  for (int i = 0; i < replays; ++i) {
    double milliseconds = 0;
    if (rmsnorm_event_record(before, stream) || !launchAll(subject) ||
        rmsnorm_event_record(after, stream) ||
        rmsnorm_event_elapsed(before, after, &milliseconds))
      return false;
    times.push_back(milliseconds * 1e3 / subject.launches);
  }
  return true;
}

void Bench::end(Subject &subject) {
  rmsnorm_graph_destroy(subject.graph);
  rmsnorm_device_free(device, subject.workspace);
  rmsnorm_function_release(subject.function);
  subject = {};
}

bool Bench::getVariant(const Subject &subject, size_t &program,
                       size_t &variant) {
  DLTensor *arguments[64];
  size_t count = 0;
  for (DLTensor &tensor : sets[0])
    arguments[count++] = &tensor;
  rmsnorm_function_info function;
  if (rmsnorm_select_variant(subject.function, arguments, count, &variant) ||
      rmsnorm_function_get_info(subject.function, &function))
    return false;
  program = function.program;
  return true;
}

} // namespace trial
