/*===- train_step.c - a compiled forward and backward from C
 * ---------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One training step of ../train_step.mlir: forward, then backward, on the
 * simulator or a GPU, checked against plain loops. Nothing but the runtime is
 * linked: no LLVM, no CUDA headers.
 *
 *   norm-compile train_step.mlir --target=sm_90 --target=sim:sm_90 \
 *       -o train_step.rmsn
 *   train_step train_step.rmsn              # on the simulator, 64 rows
 *   train_step train_step.rmsn cuda 16384
 *
 * launch.c explains modules, devices and functions; new here are two entries of
 * one module that hand each other tensors, and the workspace.
 */
#include "rmsnorm/device.h"
#include "rmsnorm/rmsnorm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 2048, MAX_ROWS = 1 << 20 };
static const double EPS = 1e-5;

static void check(rmsnorm_status status, const char *what) {
  if (status == RMSNORM_OK)
    return;
  fprintf(stderr, "train_step: %s: %s: %s\n", what, rmsnorm_status_name(status),
          rmsnorm_last_error());
  exit(1);
}

/*--- Numbers --------------------------------------------------------------*/

static float from_bf16(uint16_t upper) {
  uint32_t bits = (uint32_t)upper << 16;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* Nearest, ties to even; no NaNs here. */
static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* About normal; the same numbers in every run. */
static float next_random(uint64_t *state) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    sum += (float)(*state >> 40) / (float)(1 << 24) - 0.5f;
  }
  return sum * 1.7f;
}

/*--- Tensors --------------------------------------------------------------*/

/* A packed tensor on the device, and its contents on the host. */
typedef struct {
  DLTensor tensor;
  int64_t shape[2];
  uint64_t bytes;
  void *host;
} buffer;

static void make(rmsnorm_device *device, DLDevice place, DLDataType type,
                 int32_t rank, int64_t size, int64_t inner, buffer *b) {
  memset(b, 0, sizeof(*b));
  b->shape[0] = size;
  b->shape[1] = inner;
  b->bytes = (uint64_t)(size * (rank == 2 ? inner : 1)) * (type.bits / 8);
  b->host = calloc(b->bytes ? b->bytes : 1, 1);
  if (!b->host) {
    fprintf(stderr, "train_step: no memory\n");
    exit(1);
  }
  check(rmsnorm_device_allocate(device, b->bytes, &b->tensor.data), "memory");
  b->tensor.device = place;
  b->tensor.ndim = rank;
  b->tensor.dtype = type;
  b->tensor.shape = b->shape;
}

/* Fills a bf16 tensor around `mean`, on the host and on the device. */
static void fill(rmsnorm_device *device, buffer *b, float mean,
                 uint64_t *state) {
  uint16_t *values = b->host;
  for (uint64_t i = 0; i < b->bytes / 2; ++i)
    values[i] = to_bf16(mean + next_random(state));
  check(rmsnorm_device_copy(device, b->tensor.data, b->host, b->bytes,
                            RMSNORM_HOST_TO_DEVICE, NULL),
        "copy to the device");
}

static void fetch(rmsnorm_device *device, buffer *b) {
  check(rmsnorm_device_copy(device, b->host, b->tensor.data, b->bytes,
                            RMSNORM_DEVICE_TO_HOST, NULL),
        "copy to the host");
}

/*--- Calls ----------------------------------------------------------------*/

/* Launches and does not wait. The workspace belongs to the launch until the
 * stream has passed it; a program that calls again and again keeps one of the
 * largest size that it needs. */
static void *call(rmsnorm_device *device, const rmsnorm_function *function,
                  DLTensor *const *arguments, size_t count, uint64_t *bytes) {
  void *workspace = NULL;
  check(rmsnorm_workspace_size(function, arguments, count, bytes),
        "the size of the workspace");
  check(rmsnorm_device_allocate(device, *bytes, &workspace), "memory");
  check(rmsnorm_launch(function, arguments, count, workspace, *bytes, NULL),
        "launching");
  return workspace;
}

/*--- The same in plain loops ----------------------------------------------*/

/* Largest error as a share of what rounding explains; above 1 it is wrong. */
static double share(double worst, double got, double expected, double allowed) {
  double error = fabs(got - expected);
  if (isnan(error) || (allowed == 0 && error > 0))
    return HUGE_VAL;
  return error == 0 ? worst : fmax(worst, error / allowed);
}

typedef struct {
  double y, h, dx, dweight;
} errors;

static errors compare(int64_t rows, const uint16_t *x, const uint16_t *residual,
                      const uint16_t *weight, const uint16_t *dy,
                      const uint16_t *dh, const uint16_t *y, const uint16_t *h,
                      const uint16_t *dx, const float *dweight) {
  const double bf16 = 1.0 / 128, f32 = 1.0 / (1 << 24); /* an ulp, half one */
  errors worst = {0, 0, 0, 0};
  static double dw[COLUMNS], dw_size[COLUMNS];
  for (int64_t i = 0; i < rows; ++i) {
    int64_t at = i * COLUMNS;
    double squares = 0, c = 0, c_size = 0;
    for (int j = 0; j < COLUMNS; ++j) {
      float sum = from_bf16(x[at + j]) + from_bf16(residual[at + j]);
      double rounded = from_bf16(to_bf16(sum));
      worst.h = share(worst.h, from_bf16(h[at + j]), rounded, 0);
      squares += rounded * rounded;
    }
    double rstd = 1 / sqrt(squares / COLUMNS + EPS);
    for (int j = 0; j < COLUMNS; ++j) {
      double xhat = from_bf16(h[at + j]) * rstd, w = from_bf16(weight[j]);
      double expected = xhat * w, g = from_bf16(dy[at + j]) * w;
      worst.y =
          share(worst.y, from_bf16(y[at + j]), expected, bf16 * fabs(expected));
      c += g * xhat / COLUMNS;
      c_size += fabs(g * xhat) / COLUMNS;
      dw[j] += from_bf16(dy[at + j]) * xhat;
      dw_size[j] += fabs(from_bf16(dy[at + j]) * xhat);
    }
    for (int j = 0; j < COLUMNS; ++j) {
      double xhat = from_bf16(h[at + j]) * rstd;
      double g = from_bf16(dy[at + j]) * (double)from_bf16(weight[j]);
      double norm = (g - xhat * c) * rstd, past = from_bf16(dh[at + j]);
      /* Rounded to bf16 twice, and f32 before that. */
      double allowed = bf16 * (fabs(norm) + fabs(norm + past)) +
                       64 * f32 * (fabs(g) + fabs(xhat) * c_size) * rstd;
      worst.dx = share(worst.dx, from_bf16(dx[at + j]), norm + past, allowed);
    }
  }
  for (int j = 0; j < COLUMNS; ++j)
    worst.dweight = share(worst.dweight, dweight[j], dw[j],
                          (64 + sqrt((double)rows)) * f32 * dw_size[j]);
  return worst;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4) {
    fprintf(stderr, "usage: train_step MODULE.rmsn [sim|cuda|hip] [ROWS]\n");
    return 2;
  }
  const char *where = argc > 2 ? argv[2] : "sim";
  if (strcmp(where, "sim") && strcmp(where, "cuda") && strcmp(where, "hip")) {
    fprintf(stderr, "train_step: expected sim, cuda or hip, got '%s'\n", where);
    return 2;
  }
  char *end = NULL;
  int64_t rows = argc > 3 ? strtoll(argv[3], &end, 10) : 64;
  if (end && (end == argv[3] || *end || rows < 0 || rows > MAX_ROWS)) {
    fprintf(stderr, "train_step: expected 0 to %d rows, got '%s'\n", MAX_ROWS,
            argv[3]);
    return 2;
  }

  /* Once: the module, a device, both functions. */
  rmsnorm_module *module = NULL;
  check(rmsnorm_module_open_file(argv[1], &module), "opening the module");
  rmsnorm_backend backend = strcmp(where, "cuda") == 0  ? RMSNORM_CUDA
                            : strcmp(where, "hip") == 0 ? RMSNORM_HIP
                                                        : RMSNORM_SIM;
  rmsnorm_device *device = NULL;
  rmsnorm_device_info place;
  check(rmsnorm_device_open(backend, NULL, &device), "opening the device");
  check(rmsnorm_device_get_info(device, &place), "asking the device");
  rmsnorm_function *forward = NULL, *backward = NULL;
  check(rmsnorm_prepare(module, "forward", device, &forward), "preparing");
  check(rmsnorm_prepare(module, "backward", device, &backward), "preparing");

  const DLDataType bf16 = {kDLBfloat, 16, 1}, f32 = {kDLFloat, 32, 1};
  buffer x, residual, weight, y, h, rstd, dy, dh, dx, dweight;
  buffer *wide[] = {&x, &residual, &y, &h, &dy, &dh, &dx};
  for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); ++i)
    make(device, place.dl_device, bf16, 2, rows, COLUMNS, wide[i]);
  make(device, place.dl_device, bf16, 1, COLUMNS, 1, &weight);
  make(device, place.dl_device, f32, 1, rows, 1, &rstd);
  make(device, place.dl_device, f32, 1, COLUMNS, 1, &dweight);
  uint64_t state = 1;
  fill(device, &x, 0, &state);
  fill(device, &residual, 0, &state);
  fill(device, &weight, 1, &state);
  fill(device, &dy, 0, &state);
  fill(device, &dh, 0, &state);

  /* Per step: forward, then backward, on one stream, with no wait between. */
  DLTensor *forward_arguments[] = {&x.tensor, &residual.tensor, &weight.tensor,
                                   &y.tensor, &h.tensor,        &rstd.tensor};
  DLTensor *backward_arguments[] = {&dy.tensor,     &h.tensor,  &weight.tensor,
                                    &rstd.tensor,   &dh.tensor, &dx.tensor,
                                    &dweight.tensor};
  uint64_t forward_bytes = 0, backward_bytes = 0;
  void *forward_space =
      call(device, forward, forward_arguments, 6, &forward_bytes);
  void *backward_space =
      call(device, backward, backward_arguments, 7, &backward_bytes);
  check(rmsnorm_stream_synchronize(device, NULL), "waiting");

  fetch(device, &y);
  fetch(device, &h);
  fetch(device, &dx);
  fetch(device, &dweight);
  errors worst = compare(rows, x.host, residual.host, weight.host, dy.host,
                         dh.host, y.host, h.host, dx.host, dweight.host);
  printf("%lld rows on %s, workspace of %llu and %llu bytes\n", (long long)rows,
         place.name, (unsigned long long)forward_bytes,
         (unsigned long long)backward_bytes);
  printf("largest errors, as a share of what rounding explains: y %.2f, h "
         "%.2f, dx %.2f, dweight %.2f\n",
         worst.y, worst.h, worst.dx, worst.dweight);
  int wrong =
      !(worst.y <= 1 && worst.h <= 1 && worst.dx <= 1 && worst.dweight <= 1);
  printf("%s\n", wrong ? "WRONG" : "ok");

  buffer *all[] = {&x,    &residual, &weight, &y,  &h,
                   &rstd, &dy,       &dh,     &dx, &dweight};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
    check(rmsnorm_device_free(device, all[i]->tensor.data), "freeing");
    free(all[i]->host);
  }
  check(rmsnorm_device_free(device, forward_space), "freeing");
  check(rmsnorm_device_free(device, backward_space), "freeing");
  rmsnorm_function_release(forward);
  rmsnorm_function_release(backward);
  rmsnorm_device_close(device);
  rmsnorm_module_close(module);
  return wrong;
}
