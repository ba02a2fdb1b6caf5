/*===- HostKernels.c - native code as the compiler puts it into modules
 * ----===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A simulated kernel without waits, so its "coroutine" ends when first resumed,
 * and an oracle function. Both: y[i, j] = 2 * x[i, j], f32. */
#include "Oracle/OracleABI.h"
#include "Sim/SimABI.h"

int32_t rmsnorm_sim_abi_version = RMSNORM_SIM_ABI_VERSION;
int32_t rmsnorm_oracle_abi_version = RMSNORM_ORACLE_ABI_VERSION;
/* For launches by name alone. */
int32_t rmsnorm_sim_subgroup_size = 64;
const char twice_parameters[] __asm__("twice_kernel.parameters") = "ppllll";

typedef struct {
  void (*resume)(void *frame);
  const rmsnorm_sim_launch *launch;
  rmsnorm_sim_thread *thread;
  int64_t beyond;
} coroutine;

/* Parameters: x, y, i64 rows, i64 columns, i64 stride of x, of y. One block a
 * row, threads stride over the columns. */
static void run(void *frame) {
  static const rmsnorm_sim_access access = {1, 1, 4, 4};
  const coroutine *self = frame;
  rmsnorm_sim_thread *thread = self->thread;
  const uint64_t *a = self->launch->arguments;
  int64_t columns = (int64_t)a[3] + self->beyond;
  for (int64_t j = thread->thread_id; j < columns; j += self->launch->block) {
    const float *x = (const float *)(uintptr_t)a[0];
    *(float *)thread->fragment = 2 * x[thread->block_id * (int64_t)a[4] + j];
    if (!self->launch->table->global_store(thread, &access, a[1],
                                           thread->block_id * (int64_t)a[5],
                                           (int32_t)j, RMSNORM_SIM_ALL))
      return;
  }
  thread->wait = RMSNORM_SIM_FINISHED;
}

static void *make(const rmsnorm_sim_launch *launch, rmsnorm_sim_thread *thread,
                  int64_t beyond) {
  coroutine *self = launch->table->allocate_frame(thread, sizeof(coroutine));
  self->resume = run;
  self->launch = launch;
  self->thread = thread;
  self->beyond = beyond;
  return self;
}

void *twice_kernel(const rmsnorm_sim_launch *launch,
                   rmsnorm_sim_thread *thread) {
  return make(launch, thread, 0);
}

/* Writes one element too many. */
void *overrun_kernel(const rmsnorm_sim_launch *launch,
                     rmsnorm_sim_thread *thread) {
  return make(launch, thread, 1);
}

typedef struct {
  double lo, hi;
} interval;

/* An MLIR memref descriptor of rank 2. */
typedef struct {
  interval *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} memref;

void oracle_twice(void *const *descriptors, void *const *functions) {
  const memref *x = descriptors[0], *y = descriptors[1];
  /* The first of the functions. */
  interval (*add)(interval, interval) =
      (interval(*)(interval, interval))functions[0];
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    for (int64_t j = 0; j < x->sizes[1]; ++j) {
      interval value =
          x->aligned[x->offset + i * x->strides[0] + j * x->strides[1]];
      y->aligned[y->offset + i * y->strides[0] + j * y->strides[1]] =
          add(value, value);
    }
}
