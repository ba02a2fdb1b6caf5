//===- Device.cpp - devices: opening, memory, timing ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Device.h"

#include <iterator>

using namespace rmsnorm::runtime;

struct rmsnorm_event {
  std::shared_ptr<Device> device;
  void *native = nullptr;
};

struct rmsnorm_graph {
  std::shared_ptr<Device> device;
  void *native = nullptr;
};

static rmsnorm_status noGraphs(const Device &device) {
  return fail(RMSNORM_UNSUPPORTED, "%s records no graphs", device.name.c_str());
}
rmsnorm_status Device::beginGraph(void *) { return noGraphs(*this); }
rmsnorm_status Device::endGraph(void *, void *&) { return noGraphs(*this); }
rmsnorm_status Device::launchGraph(void *, void *) { return noGraphs(*this); }

rmsnorm_status rmsnorm::runtime::checkLaunchFlags(uint32_t flags) {
  if ((flags & ~uint32_t(RMSNORM_NO_EARLY_START)) == 0)
    return RMSNORM_OK;
  return fail(
      RMSNORM_INVALID_ARGUMENT,
      "expected the launch flags 0 or RMSNORM_NO_EARLY_START (%#x), got "
      "%#x",
      unsigned(RMSNORM_NO_EARLY_START), flags);
}

const rmsn::Binary *rmsnorm::runtime::findBinary(const rmsn::Image &image,
                                                 rmsn::BinaryFormat format) {
  for (const rmsn::Binary *binary : *image.binaries())
    if (binary->format() == format)
      return binary;
  return nullptr;
}

rmsnorm_status Device::loadOnce(const Module &module, uint32_t image,
                                std::shared_ptr<LoadedImage> &loaded) {
  std::lock_guard<std::mutex> lock(mutex);
  const std::pair<uint64_t, uint32_t> key = {module.serial(), image};
  if (auto known = images.find(key); known != images.end())
    loaded = known->second.lock();
  if (loaded)
    return RMSNORM_OK;
  RMSNORM_TRY(load(*module.root().images()->Get(image), loaded));
  // Those that have died since the last one was loaded.
  for (auto it = images.begin(); it != images.end();)
    it = it->second.expired() ? images.erase(it) : std::next(it);
  images[key] = loaded;
  return RMSNORM_OK;
}

void rmsnorm_device_options_init(rmsnorm_device_options *options) {
  if (options)
    *options = {};
}

rmsnorm_status rmsnorm_device_open(rmsnorm_backend backend,
                                   const rmsnorm_device_options *options,
                                   rmsnorm_device **device) {
  if (!device)
    return fail(RMSNORM_INVALID_ARGUMENT, "device is null");
  rmsnorm_device_options defaults = {};
  if (!options)
    options = &defaults;
  if (options->ordinal < 0)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "expected a device ordinal >= 0, got %d", options->ordinal);
  if (options->multiprocessor_count < 0)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "expected a multiprocessor count >= 0, got %d",
                options->multiprocessor_count);
  if (options->worker_threads < 0)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "expected a number of worker threads >= 0, got %d",
                options->worker_threads);
  const int order = numberOf(options->thread_order);
  if (order < RMSNORM_ORDER_FORWARD || order > RMSNORM_ORDER_SHUFFLED)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "expected a thread order of 0..2, got %d", order);
  const int kind = numberOf(backend);
  if (kind < RMSNORM_CUDA || kind > RMSNORM_ORACLE)
    return fail(RMSNORM_INVALID_ARGUMENT, "expected a backend of 0..3, got %d",
                kind);
  rmsn::Backend targetBackend;
  if (options->target && (!backendOfTarget(options->target, targetBackend) ||
                          int(targetBackend) != kind))
    return fail(RMSNORM_INVALID_ARGUMENT,
                "expected a target of the device's kind (sm_*, gfx*, sim, "
                "sim:* or oracle), got '%s'",
                options->target);

  std::shared_ptr<Device> opened;
  switch (backend) {
  case RMSNORM_CUDA:
    RMSNORM_TRY(openCuda(*options, opened));
    break;
  case RMSNORM_HIP:
    RMSNORM_TRY(openHip(*options, opened));
    break;
  case RMSNORM_SIM:
    RMSNORM_TRY(openSim(*options, opened));
    break;
  case RMSNORM_ORACLE:
    RMSNORM_TRY(openOracle(*options, opened));
    break;
  }
  opened->backend = backend;
  opened->target = options->target ? options->target : "";
  int32_t limit = options->multiprocessor_count;
  // A real device cannot have more than it has; the simulator can pretend.
  if (limit && (limit < opened->multiprocessorCount || backend >= RMSNORM_SIM))
    opened->multiprocessorCount = limit;
  *device = new rmsnorm_device{std::move(opened)};
  return RMSNORM_OK;
}

void rmsnorm_device_close(rmsnorm_device *device) { delete device; }

/// Fails when either is null.
static rmsnorm_status need(const void *device, const void *other,
                           const char *what) {
  if (device && other)
    return RMSNORM_OK;
  return fail(RMSNORM_INVALID_ARGUMENT, "%s is null", device ? what : "device");
}

rmsnorm_status rmsnorm_device_get_info(const rmsnorm_device *device,
                                       rmsnorm_device_info *info) {
  RMSNORM_TRY(need(device, info, "info"));
  const Device &d = *device->device;
  *info = {d.backend,
           d.ordinal,
           d.name.c_str(),
           d.chip.c_str(),
           d.multiprocessorCount,
           d.place.device};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_device_allocate(rmsnorm_device *device, uint64_t bytes,
                                       void **memory) {
  RMSNORM_TRY(need(device, memory, "memory"));
  if (bytes == 0) {
    *memory = nullptr;
    return RMSNORM_OK;
  }
  return device->device->allocate(bytes, *memory);
}

rmsnorm_status rmsnorm_device_get_free_memory(rmsnorm_device *device,
                                              uint64_t *bytes) {
  RMSNORM_TRY(need(device, bytes, "bytes"));
  return device->device->getFreeMemory(*bytes);
}

rmsnorm_status rmsnorm_device_allocate_managed(rmsnorm_device *device,
                                               uint64_t bytes, void **memory) {
  RMSNORM_TRY(need(device, memory, "memory"));
  if (bytes == 0) {
    *memory = nullptr;
    return RMSNORM_OK;
  }
  return device->device->allocateManaged(bytes, *memory);
}

rmsnorm_status rmsnorm_device_register_host(rmsnorm_device *device,
                                            void *memory, uint64_t bytes) {
  if (bytes == 0)
    return RMSNORM_OK;
  RMSNORM_TRY(need(device, memory, "memory"));
  return device->device->registerHost(memory, bytes);
}

rmsnorm_status rmsnorm_device_unregister_host(rmsnorm_device *device,
                                              void *memory) {
  RMSNORM_TRY(need(device, memory, "memory"));
  return device->device->unregisterHost(memory);
}

rmsnorm_status rmsnorm_device_free(rmsnorm_device *device, void *memory) {
  if (!memory)
    return RMSNORM_OK;
  RMSNORM_TRY(need(device, memory, "memory"));
  return device->device->release(memory);
}

rmsnorm_status rmsnorm_device_copy(rmsnorm_device *device, void *destination,
                                   const void *source, uint64_t bytes,
                                   rmsnorm_copy_direction direction,
                                   void *stream) {
  if (bytes == 0)
    return RMSNORM_OK;
  RMSNORM_TRY(need(device, destination, "destination"));
  RMSNORM_TRY(need(device, source, "source"));
  const int way = numberOf(direction);
  if (way < RMSNORM_HOST_TO_DEVICE || way > RMSNORM_ANY_TO_ANY)
    return fail(RMSNORM_INVALID_ARGUMENT,
                "expected a copy direction of 0..3, got %d", way);
  return device->device->copy(destination, source, bytes, direction, stream);
}

rmsnorm_status rmsnorm_device_fill(rmsnorm_device *device, void *memory,
                                   uint8_t value, uint64_t bytes,
                                   void *stream) {
  if (bytes == 0)
    return RMSNORM_OK;
  RMSNORM_TRY(need(device, memory, "memory"));
  return device->device->fill(memory, value, bytes, stream);
}

rmsnorm_status rmsnorm_stream_create(rmsnorm_device *device, void **stream) {
  RMSNORM_TRY(need(device, stream, "stream"));
  return device->device->createStream(*stream);
}

rmsnorm_status rmsnorm_stream_destroy(rmsnorm_device *device, void *stream) {
  if (!stream)
    return RMSNORM_OK;
  RMSNORM_TRY(need(device, stream, "stream"));
  return device->device->destroyStream(stream);
}

rmsnorm_status rmsnorm_stream_synchronize(rmsnorm_device *device,
                                          void *stream) {
  RMSNORM_TRY(need(device, device, "device"));
  return device->device->synchronize(stream);
}

rmsnorm_status rmsnorm_event_create(rmsnorm_device *device,
                                    rmsnorm_event **event) {
  RMSNORM_TRY(need(device, event, "event"));
  void *native = nullptr;
  RMSNORM_TRY(device->device->createEvent(native));
  *event = new rmsnorm_event{device->device, native};
  return RMSNORM_OK;
}

void rmsnorm_event_destroy(rmsnorm_event *event) {
  if (event)
    event->device->destroyEvent(event->native);
  delete event;
}

rmsnorm_status rmsnorm_event_record(rmsnorm_event *event, void *stream) {
  if (!event)
    return fail(RMSNORM_INVALID_ARGUMENT, "event is null");
  return event->device->recordEvent(event->native, stream);
}

rmsnorm_status rmsnorm_event_synchronize(rmsnorm_event *event) {
  if (!event)
    return fail(RMSNORM_INVALID_ARGUMENT, "event is null");
  return event->device->synchronizeEvent(event->native);
}

rmsnorm_status rmsnorm_stream_wait_event(void *stream, rmsnorm_event *event) {
  if (!event)
    return fail(RMSNORM_INVALID_ARGUMENT, "event is null");
  return event->device->waitEvent(stream, event->native);
}

rmsnorm_status rmsnorm_event_elapsed(rmsnorm_event *begin, rmsnorm_event *end,
                                     double *milliseconds) {
  if (!begin || !end || !milliseconds)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                !begin ? "begin"
                : !end ? "end"
                       : "milliseconds");
  if (begin->device != end->device)
    return fail(RMSNORM_INVALID_ARGUMENT, "expected two events of one device");
  return end->device->elapsed(begin->native, end->native, *milliseconds);
}

rmsnorm_status rmsnorm_graph_begin(rmsnorm_device *device, void *stream) {
  RMSNORM_TRY(need(device, device, "device"));
  return device->device->beginGraph(stream);
}

rmsnorm_status rmsnorm_graph_end(rmsnorm_device *device, void *stream,
                                 rmsnorm_graph **graph) {
  RMSNORM_TRY(need(device, graph, "graph"));
  void *native = nullptr;
  RMSNORM_TRY(device->device->endGraph(stream, native));
  *graph = new rmsnorm_graph{device->device, native};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_graph_launch(rmsnorm_graph *graph, void *stream) {
  if (!graph)
    return fail(RMSNORM_INVALID_ARGUMENT, "graph is null");
  return graph->device->launchGraph(graph->native, stream);
}

void rmsnorm_graph_destroy(rmsnorm_graph *graph) {
  if (graph)
    graph->device->destroyGraph(graph->native);
  delete graph;
}
