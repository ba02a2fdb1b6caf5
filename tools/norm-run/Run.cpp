// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Run.cpp - runs one entry and compares it with the oracle ----------===//

#include "Run.h"
#include "Compare.h"
#include "Fill.h"
#include "Tensor.h"

#include "rmsnorm/device.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

namespace norm_run {

namespace {

/// Owns what one run takes from a device.
class DeviceRun {
public:
  explicit DeviceRun(rmsnorm_device *device) : device(device) {}
  ~DeviceRun();

  /// Prepares the entry on the device, whose memory then holds copies of the
  /// tensors. All of these return false if the runtime refused: its message
  /// says why.
  bool prepare(const Plan &plan, const std::vector<Tensor> &tensors);
  bool upload(const std::vector<Tensor> &tensors);
  bool launch();
  bool download(std::vector<Tensor> &tensors);
  /// Sets `note` if something wrote behind the workspace.
  bool checkWorkspace(std::string &note);
  /// Median milliseconds of `repeat` launches.
  bool time(int repeat, double &milliseconds);

  bool describe(const Plan &plan, Result &result);

private:
  static constexpr uint64_t guardBytes = 4096;
  static constexpr uint8_t guardValue = 0xff;

  std::vector<DLTensor *> pointers();

  rmsnorm_device *device;
  rmsnorm_device_info info = {};
  rmsnorm_function *function = nullptr;
  std::vector<void *> memory;
  std::vector<DLTensor> views;
  /// Followed by a guard.
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
  void *stream = nullptr;
};

} // namespace

DeviceRun::~DeviceRun() {
  for (void *block : memory)
    rmsnorm_device_free(device, block);
  rmsnorm_device_free(device, workspace);
  if (stream)
    rmsnorm_stream_destroy(device, stream);
  rmsnorm_function_release(function);
}

std::vector<DLTensor *> DeviceRun::pointers() {
  std::vector<DLTensor *> list;
  for (DLTensor &view : views)
    list.push_back(&view);
  return list;
}

bool DeviceRun::prepare(const Plan &plan, const std::vector<Tensor> &tensors) {
  if (rmsnorm_device_get_info(device, &info) ||
      rmsnorm_prepare(plan.module, plan.name.c_str(), device, &function) ||
      rmsnorm_stream_create(device, &stream))
    return false;
  for (const Tensor &tensor : tensors) {
    void *block = nullptr;
    if (rmsnorm_device_allocate(device, tensor.byteCount(), &block))
      return false;
    memory.push_back(block);
    views.push_back(tensor.view(block, info.dl_device));
  }
  std::vector<DLTensor *> arguments = pointers();
  // Filled with NaNs, which whoever reads before it writes will spread.
  return !rmsnorm_workspace_size(function, arguments.data(), arguments.size(),
                                 &workspaceBytes) &&
         !rmsnorm_device_allocate(device, workspaceBytes + guardBytes,
                                  &workspace) &&
         !rmsnorm_device_fill(device, workspace, guardValue,
                              workspaceBytes + guardBytes, stream);
}

bool DeviceRun::checkWorkspace(std::string &note) {
  unsigned char guard[guardBytes];
  if (rmsnorm_device_copy(device, guard,
                          static_cast<char *>(workspace) + workspaceBytes,
                          guardBytes, RMSNORM_DEVICE_TO_HOST, stream))
    return false;
  for (uint64_t i = 0; i < guardBytes; ++i)
    if (guard[i] != guardValue) {
      note = "wrote " + std::to_string(i) + " bytes behind the workspace of " +
             std::to_string(workspaceBytes);
      break;
    }
  return true;
}

bool DeviceRun::upload(const std::vector<Tensor> &tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (rmsnorm_device_copy(device, memory[i], tensors[i].bytes(),
                            tensors[i].byteCount(), RMSNORM_HOST_TO_DEVICE,
                            stream))
      return false;
  return true;
}

bool DeviceRun::launch() {
  std::vector<DLTensor *> arguments = pointers();
  return !rmsnorm_launch(function, arguments.data(), arguments.size(),
                         workspace, workspaceBytes, stream);
}

bool DeviceRun::download(std::vector<Tensor> &tensors) {
  if (rmsnorm_stream_synchronize(device, stream))
    return false;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (rmsnorm_device_copy(device, tensors[i].bytes(), memory[i],
                            tensors[i].byteCount(), RMSNORM_DEVICE_TO_HOST,
                            stream))
      return false;
  return true;
}

bool DeviceRun::time(int repeat, double &milliseconds) {
  rmsnorm_event *begin = nullptr, *end = nullptr;
  bool good = !rmsnorm_event_create(device, &begin) &&
              !rmsnorm_event_create(device, &end);
  std::vector<double> times;
  for (int i = 0; good && i < repeat; ++i) {
    double time = 0;
    good = !rmsnorm_event_record(begin, stream) && launch() &&
           !rmsnorm_event_record(end, stream) &&
           !rmsnorm_event_elapsed(begin, end, &time);
    times.push_back(time);
  }
  rmsnorm_event_destroy(begin);
  rmsnorm_event_destroy(end);
  if (good && !times.empty()) {
    std::nth_element(times.begin(), times.begin() + times.size() / 2,
                     times.end());
    milliseconds = times[times.size() / 2];
  }
  return good;
}

bool DeviceRun::describe(const Plan &plan, Result &result) {
  rmsnorm_function_info function_info;
  rmsnorm_variant_info variant;
  size_t index = 0;
  std::vector<DLTensor *> arguments = pointers();
  if (rmsnorm_function_get_info(function, &function_info) ||
      rmsnorm_select_variant(function, arguments.data(), arguments.size(),
                             &index) ||
      rmsnorm_module_get_variant(plan.module, function_info.entry,
                                 function_info.program, index, &variant))
    return false;
  result.variant = variant.name;
  result.schedule = variant.schedule;
  result.device = function_info.target;
  if (info.backend != RMSNORM_SIM)
    result.device = std::string(info.name) + " (" + function_info.target + ")";
  result.warning = function_info.warning;
  return true;
}

/// Tensors of the plan's shapes in the layout asked for, of any contents; empty
/// if one cannot be made.
static std::vector<Tensor> makeTensors(const Plan &plan,
                                       const Options &options) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const rmsnorm_argument_info &info = plan.arguments[i];
    Format format;
    if (!getFormat(info.dtype, format))
      return {};
    LayoutOptions layout;
    // A gap that keeps rows aligned to 16 bytes; --unaligned alone shifts.
    if (options.strided)
      layout.rowGap = 48 / format.bytes;
    if (options.unaligned)
      layout.shift = 1;
    tensors.emplace_back(info, format, plan.shapes[i], layout);
    if (!tensors.back().bytes())
      return {};
  }
  return tensors;
}

/// Whether it has one f32 for each row of an argument that is `widest`.
static bool isRowFactor(const rmsnorm_argument_info &info,
                        const rmsnorm_argument_info &widest) {
  return info.rank == widest.rank - 1 && info.dtype.code == kDLFloat &&
         info.dtype.bits == 32 &&
         std::equal(info.dims, info.dims + info.rank, widest.dims);
}

/// Inputs from the seed, poisoned outputs.
static void fillTensors(const Plan &plan, const Options &options,
                        std::vector<Tensor> &tensors) {
  size_t widest = 0;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (plan.arguments[i].rank > plan.arguments[widest].rank)
      widest = i;
  const rmsnorm_argument_info &rows = plan.arguments[widest];
  auto isData = [&](const rmsnorm_argument_info &info) {
    return info.rank >= 2 || rows.rank < 2;
  };
  // Of dy and x, each is zero, large and small without the other, but no x that
  // is small, hence has a large rstd, meets a dy that would overflow f16.
  const unsigned shifts[4] = {3, 0, 6, 1};
  unsigned ordinal = 0;
  std::vector<size_t> data, factors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const rmsnorm_argument_info &info = plan.arguments[i];
    if (info.role == RMSNORM_OUTPUT) {
      poison(tensors[i]);
    } else if (isRowFactor(info, rows)) {
      factors.push_back(i);
    } else if (isData(info)) {
      fillInput(tensors[i], options.seed, unsigned(i), InputKind::Data,
                shifts[ordinal++ % 4]);
      if (info.rank == rows.rank)
        data.push_back(i);
    } else {
      fillInput(tensors[i], options.seed, unsigned(i), InputKind::Weight);
    }
  }
  // Those of the data right before them, if they follow any: in the order of
  // rmsnorm.backward that is the norm's input.
  for (size_t i : factors) {
    size_t of = data.empty() ? i : data.front();
    for (size_t candidate : data)
      if (candidate < i)
        of = candidate;
    if (of != i)
      fillRowFactors(tensors[i], tensors[of]);
    else
      fillInput(tensors[i], options.seed, unsigned(i), InputKind::Weight);
  }
}

/// As makeTensors, with the contents of `from`.
static std::vector<Tensor> copyTensors(const Plan &plan,
                                       const std::vector<Tensor> &from,
                                       const Options &options) {
  std::vector<Tensor> copies = makeTensors(plan, options);
  for (size_t i = 0; i < copies.size(); ++i)
    copies[i].copyFrom(from[i]);
  return copies;
}

/// Runs the oracle, or what it has for another target, leaving its outputs in
/// `tensors`.
static bool runOracle(const Plan &plan, std::vector<Tensor> &tensors,
                      const char *target = "oracle") {
  rmsnorm_device *oracle = nullptr;
  rmsnorm_device_options options;
  rmsnorm_device_options_init(&options);
  options.target = target;
  if (rmsnorm_device_open(RMSNORM_ORACLE, &options, &oracle))
    return false;
  bool good;
  {
    DeviceRun run(oracle);
    good = run.prepare(plan, tensors) && run.upload(tensors) && run.launch() &&
           run.download(tensors);
  }
  rmsnorm_device_close(oracle);
  return good;
}

struct Reference {
  std::vector<Tensor> before, expected;
  std::vector<Tensor> magnitudes; // made when needed
};

std::shared_ptr<Reference>
makeReference(const Plan &plan, const Options &options, std::string &error) {
  auto reference = std::make_shared<Reference>();
  reference->before = makeTensors(plan, options);
  if (reference->before.size() != plan.arguments.size()) {
    error = "cannot make the tensors: out of memory, or a data type that is "
            "not filled";
    return nullptr;
  }
  fillTensors(plan, options, reference->before);
  reference->expected = copyTensors(plan, reference->before, options);
  if (!runOracle(plan, reference->expected)) {
    error = rmsnorm_last_error();
    return nullptr;
  }
  return reference;
}

/// Compares outputs with the oracle's and everything else with what it was.
static bool check(const Plan &plan, const Options &options,
                  Reference &reference, const std::vector<Tensor> &got,
                  Result &result) {
  const std::vector<Tensor> &before = reference.before;
  const std::vector<Tensor> &expected = reference.expected;
  std::vector<Tensor> &magnitudes = reference.magnitudes;
  std::vector<DLTensor> views;
  std::vector<DLTensor *> pointers;
  for (const Tensor &tensor : before)
    views.push_back(tensor.view(nullptr, DLDevice{kDLCPU, 0}));
  for (DLTensor &view : views)
    pointers.push_back(&view);

  double worstShare = -1;
  result.passed = true;
  for (size_t i = 0; i < got.size(); ++i) {
    const rmsnorm_argument_info &info = plan.arguments[i];
    if (info.role == RMSNORM_INPUT) {
      if (!got[i].sameBytes(before[i]))
        result.note = std::string("input '") + info.name + "' was written to";
      continue;
    }
    if (std::string text = got[i].findOverrun(before[i]); !text.empty())
      result.note = std::string("'") + info.name + "': " + text;
    rmsnorm_error_bound bound = {};
    if (info.has_error_bound && rmsnorm_module_get_error_bound(
                                    plan.module, plan.entry, i, pointers.data(),
                                    pointers.size(), &bound))
      return false;
    if (bound.magnitude > 0 && magnitudes.empty()) {
      std::vector<Tensor> made = copyTensors(plan, before, options);
      if (!runOracle(plan, made, "magnitudes"))
        return false;
      magnitudes = std::move(made);
    }
    Difference difference =
        compare(got[i], expected[i], bound,
                bound.magnitude > 0 ? &magnitudes[i] : nullptr);
    if (!info.has_error_bound)
      result.warning = std::string("'") + info.name +
                       "': the compiler derived no bound, not checked";
    else if (difference.share > 1) {
      result.passed = false;
      result.note = std::string("'") + info.name + "', " + difference.where;
    }
    if (difference.share > worstShare) {
      worstShare = difference.share;
      result.output = info.name;
      result.bound = bound;
      result.hasBound = info.has_error_bound;
    }
    result.ulps = std::fmax(result.ulps, difference.ulps);
    result.absolute = std::fmax(result.absolute, difference.absolute);
    if (got[i].elementCount())
      result.differing =
          std::fmax(result.differing, double(difference.differing) /
                                          double(got[i].elementCount()));
    result.hash = got[i].hash(result.hash);
  }
  result.passed &= result.note.empty();
  return true;
}

Result runEntry(const Plan &plan, rmsnorm_device *device,
                const Options &options, std::shared_ptr<Reference> reference) {
  Result result;
  auto failWith = [&](std::string text) {
    result.error = std::move(text);
    return result;
  };
  auto refused = [&] { return failWith(rmsnorm_last_error()); };

  std::string error;
  if (!reference)
    reference = makeReference(plan, options, error);
  if (!reference)
    return failWith(std::move(error));
  const std::vector<Tensor> &before = reference->before;
  for (size_t i = 0; i < before.size(); ++i)
    result.bytes += double(before[i].elementCount()) *
                    before[i].getFormat().bytes *
                    (plan.arguments[i].role == RMSNORM_INOUT ? 2 : 1);

  std::vector<Tensor> got = copyTensors(plan, before, options);
  DeviceRun run(device);
  if (!run.prepare(plan, got) || !run.describe(plan, result) ||
      !run.upload(got))
    return refused();
  auto start = std::chrono::steady_clock::now();
  if (!run.launch() || !run.download(got))
    return refused();
  std::chrono::duration<double, std::milli> once =
      std::chrono::steady_clock::now() - start;
  result.milliseconds = once.count();
  int repeat = options.repeat                   ? options.repeat
               : options.backend == RMSNORM_SIM ? 1
                                                : 50;
  // The first launch was for the comparison; on a GPU its time says nothing.
  if (repeat > 1 && !run.time(repeat, result.milliseconds))
    return refused();
  if (!run.checkWorkspace(result.note) ||
      !check(plan, options, *reference, got, result))
    return refused();
  return result;
}

} // namespace norm_run
