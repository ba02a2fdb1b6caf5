/*===- rmsnorm/device.h - memory, streams and timing on a device ----------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For small tools and benchmarks: the same around launches on CUDA, HIP,
 * the simulator and the oracle (there: host memory, no streams, the host's
 * clock). Programs that have a framework's tensors do not need this header.
 */
#ifndef RMSNORM_DEVICE_H
#define RMSNORM_DEVICE_H

#include "rmsnorm/rmsnorm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory on the device, aligned to at least 256 bytes. 0 bytes gives NULL. */
RMSNORM_API rmsnorm_status rmsnorm_device_allocate(rmsnorm_device *device,
                                                   uint64_t bytes,
                                                   void **memory);
RMSNORM_API rmsnorm_status rmsnorm_device_free(rmsnorm_device *device,
                                               void *memory);

/* Memory of host and device at the same addresses (unified memory); freed as
 * above. The host may touch it while the device does not. */
RMSNORM_API rmsnorm_status rmsnorm_device_allocate_managed(
    rmsnorm_device *device, uint64_t bytes, void **memory);
/* Makes host memory the device's, too, until it is unregistered. */
RMSNORM_API rmsnorm_status rmsnorm_device_register_host(rmsnorm_device *device,
                                                        void *memory,
                                                        uint64_t bytes);
RMSNORM_API rmsnorm_status
rmsnorm_device_unregister_host(rmsnorm_device *device, void *memory);

/* Bytes of the device's memory that are free now; of the simulator's and the
 * oracle's, which is the host's, what this process may still get.
 * RMSNORM_UNSUPPORTED where the system does not say. */
RMSNORM_API rmsnorm_status
rmsnorm_device_get_free_memory(rmsnorm_device *device, uint64_t *bytes);

typedef enum {
  RMSNORM_HOST_TO_DEVICE = 0,
  RMSNORM_DEVICE_TO_HOST = 1,
  RMSNORM_DEVICE_TO_DEVICE = 2,
  RMSNORM_ANY_TO_ANY = 3 /* as the driver knows the addresses */
} rmsnorm_copy_direction;

/* Copies on `stream` and waits for it, except device to device, which does not
 * wait, nor does one of any kind. */
RMSNORM_API rmsnorm_status rmsnorm_device_copy(
    rmsnorm_device *device, void *destination, const void *source,
    uint64_t bytes, rmsnorm_copy_direction direction, void *stream);

/* Sets every byte, on `stream`, without waiting. */
RMSNORM_API rmsnorm_status rmsnorm_device_fill(rmsnorm_device *device,
                                               void *memory, uint8_t value,
                                               uint64_t bytes, void *stream);

/* A stream that does not wait for the default stream. */
RMSNORM_API rmsnorm_status rmsnorm_stream_create(rmsnorm_device *device,
                                                 void **stream);
RMSNORM_API rmsnorm_status rmsnorm_stream_destroy(rmsnorm_device *device,
                                                  void *stream);
/* Waits until all work on it has finished; reports errors of kernels on it. */
RMSNORM_API rmsnorm_status rmsnorm_stream_synchronize(rmsnorm_device *device,
                                                      void *stream);

typedef struct rmsnorm_event rmsnorm_event;

RMSNORM_API rmsnorm_status rmsnorm_event_create(rmsnorm_device *device,
                                                rmsnorm_event **event);
RMSNORM_API void rmsnorm_event_destroy(rmsnorm_event *event);
RMSNORM_API rmsnorm_status rmsnorm_event_record(rmsnorm_event *event,
                                                void *stream);
RMSNORM_API rmsnorm_status rmsnorm_event_synchronize(rmsnorm_event *event);
/* Later work on `stream` begins after the event; this call does not wait. */
RMSNORM_API rmsnorm_status rmsnorm_stream_wait_event(void *stream,
                                                     rmsnorm_event *event);
/* Waits for `end`, then gives the time between the two in milliseconds. */
RMSNORM_API rmsnorm_status rmsnorm_event_elapsed(rmsnorm_event *begin,
                                                 rmsnorm_event *end,
                                                 double *milliseconds);

/* Launches recorded once and replayed together, without the host's cost of
 * each, as launches of a few microseconds must be timed. Work that is put on
 * `stream` between begin and end is recorded instead of run; functions must
 * have been prepared before. RMSNORM_UNSUPPORTED on the simulator, the oracle
 * and drivers without graphs. */
typedef struct rmsnorm_graph rmsnorm_graph;

RMSNORM_API rmsnorm_status rmsnorm_graph_begin(rmsnorm_device *device,
                                               void *stream);
RMSNORM_API rmsnorm_status rmsnorm_graph_end(rmsnorm_device *device,
                                             void *stream,
                                             rmsnorm_graph **graph);
/* Puts all of it on `stream`. */
RMSNORM_API rmsnorm_status rmsnorm_graph_launch(rmsnorm_graph *graph,
                                                void *stream);
RMSNORM_API void rmsnorm_graph_destroy(rmsnorm_graph *graph);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RMSNORM_DEVICE_H */
