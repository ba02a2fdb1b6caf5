/*===- rmsnorm/embed.h - what code compiled by other compilers calls ------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A compiler with our passes in it (rmsnorm-embed-host) makes host code of its
 * own, whose launches call these functions; librmsnorm_mgpu has the same under
 * the names that MLIR's gpu-to-llvm calls. Such code has no place for a
 * status: a failure prints a message to stderr and aborts.
 *
 * An object is a cubin, PTX, an AMD code object or simulated kernels; its first
 * bytes say which, and so which driver runs it. All objects of a process run on
 * one device: the one that rmsnorm_gpu_use names, else device 0 of the driver
 * that the first object is for, or, where memory is asked for before there is
 * one, of RMSNORM_GPU_BACKEND in the environment (cuda, hip, sim), else of a
 * GPU. Any thread may call anything. With
 * RMSNORM_GPU_TRACE in the environment each launch prints a line to stderr.
 */
#ifndef RMSNORM_EMBED_H
#define RMSNORM_EMBED_H

#include "rmsnorm/rmsnorm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the tables that follow. */
#define RMSNORM_GPU_VERSION 1

/* Kernels of one gpu.module. The compiler emits it as a constant, except for
 * `state`. */
typedef struct {
  uint64_t version; /* RMSNORM_GPU_VERSION */
  const void *bytes;
  uint64_t size;      /* in bytes */
  const char *target; /* "sm_90", "gfx942", "sim:sm_90"; NULL: not known */
  void *state;        /* the runtime's, NULL at first */
} rmsnorm_gpu_object;

/* One kernel, with the values that are the same at each of its launches. */
typedef struct {
  rmsnorm_gpu_object *object;
  const char *name;
  /* One letter for each parameter: p a pointer, c one to memory that no kernel
   * writes, l i64, i i32, f f32. NULL: only the object knows. */
  const char *parameters;
  uint32_t block[3];                  /* threads */
  uint32_t cluster;                   /* blocks along x, 1: none */
  uint32_t shared_memory;             /* dynamic, in bytes */
  uint32_t blocks_per_multiprocessor; /* to share one; 0: any number */
  uint32_t subgroup_size;             /* threads; 0: only the object knows */
  uint32_t dependent; /* 1: it waits itself for the kernels before it, and may
                         start before they have ended */
  void *state;        /* the runtime's, NULL at first */
} rmsnorm_gpu_kernel;

/* Puts a kernel on the stream of the calling thread (rmsnorm_gpu_set_stream).
 * `grid` is the number of blocks along x, y, z; where one is 0 there is nothing
 * to do. `parameters` are the addresses of the kernel's parameters, read before
 * this returns. Loads and sets up the kernel the first time. */
RMSNORM_API void rmsnorm_gpu_launch(rmsnorm_gpu_kernel *kernel,
                                    const uint64_t grid[3], void **parameters);
/* The same on a stream given. */
RMSNORM_API void rmsnorm_gpu_launch_on(rmsnorm_gpu_kernel *kernel,
                                       const uint64_t grid[3],
                                       void **parameters, void *stream);
/* Waits for the work on the calling thread's stream. */
RMSNORM_API void rmsnorm_gpu_synchronize(void);
/* NULL, the default: the device's default stream. */
RMSNORM_API void rmsnorm_gpu_set_stream(void *stream);
/* Flags of rmsnorm_launch_flag for all launches of the calling thread; at first
 * there are none. */
RMSNORM_API void rmsnorm_gpu_set_launch_flags(uint32_t flags);

/* For librmsnorm_mgpu: makes an object known without loading it, and forgets it
 * with its kernels, none of which runs any more. */
RMSNORM_API void rmsnorm_gpu_add_object(rmsnorm_gpu_object *object);
RMSNORM_API void rmsnorm_gpu_remove_object(rmsnorm_gpu_object *object);

/* Multiprocessors of the device. `object`: one that is going to run, or NULL.
 */
RMSNORM_API int64_t
rmsnorm_gpu_multiprocessor_count(const rmsnorm_gpu_object *object);
/* Clusters of the kernel that the device holds at once, more than any grid has
 * if it has no such limit. Where the kernel has no object, it is the one of its
 * name among those of rmsnorm_gpu_add_object. */
RMSNORM_API int64_t rmsnorm_gpu_resident_clusters(rmsnorm_gpu_kernel *kernel);

/* Device memory for the launches of one call, aligned to 256 bytes. Released
 * memory is kept for the next call of the same thread and stream, so that
 * neither waits. */
RMSNORM_API void *rmsnorm_gpu_workspace(const rmsnorm_gpu_object *object,
                                        uint64_t bytes);
RMSNORM_API void rmsnorm_gpu_release_workspace(void *memory);

/* Chooses the device, before anything runs; the second, among those of the
 * driver that the first object is for. */
RMSNORM_API void rmsnorm_gpu_use(rmsnorm_backend backend, int32_t ordinal);
RMSNORM_API void rmsnorm_gpu_use_ordinal(int32_t ordinal);
/* The device, for rmsnorm/device.h; it lives as long as the process. */
RMSNORM_API rmsnorm_device *rmsnorm_gpu_device(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RMSNORM_EMBED_H */
