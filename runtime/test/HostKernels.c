/*===- HostKernels.c - native code as the compiler puts it into modules
 * ----===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A simulated kernel without waits, so its "coroutine" ends in the first call,
 * and an oracle function. Both: y[i, j] = 2 * x[i, j], f32. */
#include "Sim/SimABI.h"

int32_t rmsnorm_sim_abi_version = RMSNORM_SIM_ABI_VERSION;

/* Parameters: x, y, i64 rows, i64 columns, i64 stride of x, of y. One block a
 * row, threads stride over the columns. */
static void *run(const rmsnorm_sim_launch *launch, rmsnorm_sim_thread *thread,
                 int64_t beyond) {
  const rmsnorm_sim_argument *a = launch->arguments;
  void **frame = launch->table->allocate_frame(thread, 64);
  int64_t columns = (int64_t)a[3].slot + beyond;
  for (int64_t j = thread->thread_id; j < columns; j += launch->block) {
    uint64_t offset = 4 * (thread->block_id * (int64_t)a[5].slot + j);
    const float *x =
        (const float *)(uintptr_t)(a[0].slot +
                                   4 * (thread->block_id * (int64_t)a[4].slot +
                                        j));
    float *y = (float *)(uintptr_t)(a[1].slot + offset);
    if (a[1].slot + offset + 4 > a[1].begin + a[1].writable) {
      launch->table->global_fault(thread, 1, a[1].slot + offset, 4, 0, 4,
                                  RMSNORM_SIM_STORE);
      thread->wait = RMSNORM_SIM_FAILED;
      return frame;
    }
    *y = 2 * *x;
  }
  thread->wait = RMSNORM_SIM_FINISHED;
  return frame;
}

void *twice_kernel(const rmsnorm_sim_launch *launch,
                   rmsnorm_sim_thread *thread) {
  return run(launch, thread, 0);
}

/* Writes one element too many. */
void *overrun_kernel(const rmsnorm_sim_launch *launch,
                     rmsnorm_sim_thread *thread) {
  return run(launch, thread, 1);
}

/* An MLIR memref descriptor of rank 2. */
typedef struct {
  float *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} memref;

void oracle_twice(void *const *descriptors) {
  const memref *x = descriptors[0], *y = descriptors[1];
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    for (int64_t j = 0; j < x->sizes[1]; ++j)
      y->aligned[y->offset + i * y->strides[0] + j * y->strides[1]] =
          2 * x->aligned[x->offset + i * x->strides[0] + j * x->strides[1]];
}
