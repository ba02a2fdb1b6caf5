/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===- SimABI.h - between a simulated kernel and its scheduler ------------===*
 *
 * A kernel in a sim blob is a coroutine, one instance per thread:
 *
 *   void *KERNEL(const rmsnorm_sim_launch *, rmsnorm_sim_thread *);
 *
 * The call makes the thread and returns the coroutine's handle;
 * rmsnorm_sim_resume(handle) runs it to its first wait, and from there to the
 * next one. Each time, thread->wait says why control came back. A blob has no
 *undefined symbols: whatever it needs of the host it reaches through
 *launch->table.
 *
 * The finalize-sim pass includes this file for the offsets, so it is C, and
 * every field has a fixed size. Any change of a layout or of the meaning of a
 * field increments RMSNORM_SIM_ABI_VERSION, which every blob carries in the
 * int32 RMSNORM_SIM_ABI_SYMBOL.
 */
#ifndef RMSNORM_SIM_SIMABI_H
#define RMSNORM_SIM_SIMABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RMSNORM_SIM_ABI_VERSION 10
#define RMSNORM_SIM_ABI_SYMBOL "rmsnorm_sim_abi_version"

/* In blobs that are launched by name alone (rmsnorm/embed.h), an int32, and for
 * each kernel KERNEL.parameters: a letter for each parameter, zero at the end.
 */
#define RMSNORM_SIM_SUBGROUP_SYMBOL "rmsnorm_sim_subgroup_size"
#define RMSNORM_SIM_PARAMETERS_SUFFIX ".parameters"

/* thread->wait */
enum {
  /* Between two waits. Never seen by the scheduler. */
  RMSNORM_SIM_RUNNING = 0,
  /* At a barrier. `site` tells which. */
  RMSNORM_SIM_BARRIER = 1,
  /* At a subgroup_reduce of `value`: `kind`, `width`, `site` are set, and
   * `value` is to hold the result on resumption. */
  RMSNORM_SIM_REDUCE = 2,
  /* Returned. Must not be resumed. */
  RMSNORM_SIM_FINISHED = 3,
  /* At an exchange_ready. `site` is set. */
  RMSNORM_SIM_READY = 4,
  /* At an exchange_await of `number`; `site` is set. */
  RMSNORM_SIM_AWAIT = 5
};

/* thread->kind, the values of the dialect's ReduceKind. */
enum {
  RMSNORM_SIM_ADD = 0,
  RMSNORM_SIM_MAXIMUMF = 1, /* NaN if either is, -0 < +0 */
  RMSNORM_SIM_MINIMUMF = 2,
  RMSNORM_SIM_MUL = 3,
  RMSNORM_SIM_MAXNUMF = 4, /* the other one if either is NaN */
  RMSNORM_SIM_MINNUMF = 5
};

/* A thread of the block being run. The scheduler's own data lies after it. */
typedef struct rmsnorm_sim_thread {
  int64_t thread_id; /* in the block */
  int64_t block_id;  /* in the grid */
  int32_t wait;
  /* The number of the waiting op in its kernel, the same for every thread. */
  int32_t site;
  int32_t kind;
  int32_t width;
  float value;
  int32_t number;
  /* Whether the thread has passed its grid_wait, or has none to pass: 0 at the
   * start of a dependent launch, 1 at that of any other. */
  int32_t grid_waited;
  /* RMSNORM_SIM_FRAGMENT_BYTES bytes, aligned to 64, for a fragment on its way
   * to or from global memory. */
  void *fragment;
} rmsnorm_sim_thread;

/* The largest fragment: 64 elements of 8 bytes. */
#define RMSNORM_SIM_FRAGMENT_BYTES 512

/* What is the same each time an access of global memory is made. */
typedef struct rmsnorm_sim_access {
  /* The number of the kernel's argument whose buffer is accessed. */
  int32_t argument;
  /* Of the fragment. */
  int32_t elements;
  int32_t element_bytes;
  int32_t alignment;
} rmsnorm_sim_access;

/* The `valid` of an access without one: all elements. */
#define RMSNORM_SIM_ALL 0x7fffffff

typedef struct rmsnorm_sim_table {
  /* Memory for the thread's coroutine, aligned to 64 bytes. Called once per
   * thread, before anything else; never fails. It lives as long as the block,
   * nobody frees it. */
  void *(*allocate_frame)(rmsnorm_sim_thread *thread, uint64_t bytes);
  /* What follows does not return after it has reported an error: it jumps to
   * the scheduler, over a frame of the kernel that nobody needs any more.
   *
   * An access of the elements at `base` + `row` + `column` (in elements) of
   * which those below `valid` exist. A load returns where the fragment can be
   * read, with zeros for the others; a store writes thread->fragment. An error
   * is an access out of bounds, a misaligned one, one that the argument's role
   * forbids, and one before grid_wait of what earlier kernels may write. */
  void *(*global_load)(rmsnorm_sim_thread *thread,
                       const rmsnorm_sim_access *access, uint64_t base,
                       int64_t row, int32_t column, int32_t valid);
  void *(*global_store)(rmsnorm_sim_thread *thread,
                        const rmsnorm_sim_access *access, uint64_t base,
                        int64_t row, int32_t column, int32_t valid);
  /* The address of `bytes` bytes at `offset` of the block's workgroup memory,
   * for one read or one write. An error is one out of bounds, a misaligned one
   * and a race. */
  void *(*workgroup_access)(rmsnorm_sim_thread *thread, int32_t offset,
                            int32_t bytes, int32_t is_store);
  /* The ops of an exchange, with the fields of its attribute. exchange_read
   * returns the address of the value. A publish of `count` values is that many
   * calls, `index` from 0. */
  void *(*exchange_init)(rmsnorm_sim_thread *thread, int32_t offset,
                         int32_t bytes, int32_t slots, int32_t values,
                         int32_t subgroups, int32_t cluster);
  void *(*exchange_publish)(rmsnorm_sim_thread *thread, int32_t number,
                            int32_t subgroup, int32_t index, int32_t count,
                            float value);
  void *(*exchange_read)(rmsnorm_sim_thread *thread, int32_t number,
                         int32_t publisher, int32_t value);
  /* Begins to copy what global_load would read to `offset` of the block's
   * workgroup memory. It lands when this thread waits for it. */
  void *(*async_copy)(rmsnorm_sim_thread *thread,
                      const rmsnorm_sim_access *access, uint64_t base,
                      int64_t row, int32_t column, int32_t valid,
                      int32_t offset);
  /* Makes the thread's copies since the last call a group. */
  void *(*copy_commit)(rmsnorm_sim_thread *thread);
  /* Lands all but the last `pending` groups. An error is a source that has
   * changed since its copy began, and a race. */
  void *(*copy_wait)(rmsnorm_sim_thread *thread, int32_t pending);
  /* 2^x, of the host's libm. */
  float (*exp2)(float);
} rmsnorm_sim_table;

/* The same for all threads of a launch. */
typedef struct rmsnorm_sim_launch {
  const rmsnorm_sim_table *table;
  /* The bits of each: a pointer, i64, i32, f32, ... in the low bytes (little
   * endian). */
  const uint64_t *arguments;
  int64_t grid;  /* blocks */
  int64_t block; /* threads of a block */
} rmsnorm_sim_launch;

typedef void *(*rmsnorm_sim_kernel)(const rmsnorm_sim_launch *launch,
                                    rmsnorm_sim_thread *thread);

/* LLVM's switched-resume coroutines: the frame starts with its resume
 * function. */
static inline void rmsnorm_sim_resume(void *handle) {
  (*(void (**)(void *))handle)(handle);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RMSNORM_SIM_SIMABI_H */
