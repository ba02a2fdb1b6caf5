/*===- launch.c - calling a compiled norm from C --------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens a module made by norm-compile, prepares one of its entries and calls it
 * with DLPack tensors, on the simulator or on a CUDA device. Nothing but the
 * runtime is linked: no LLVM, no CUDA headers.
 *
 *   norm-compile llama.mlir --target=sm_90 --target=sim:sm_90 -o llama.rmsn
 *   launch llama.rmsn                  # first entry, on the simulator
 *   launch llama.rmsn cuda forward 4096
 *
 * It serves any entry: every argument gets a tensor as the module describes it,
 * `rows` being the size of every symbolic dimension but the last. A real
 * program has its tensors already (PyTorch: __dlpack__) and needs the steps 1
 * to 3, once, and 5, per call.
 */
#include "rmsnorm/device.h"
#include "rmsnorm/rmsnorm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 16, MAX_RANK = 8, DYNAMIC_COLUMNS = 1024 };

/* Every call returns a status; the message names what was expected and given.
 */
static void check(rmsnorm_status status, const char *what) {
  if (status == RMSNORM_OK)
    return;
  fprintf(stderr, "launch: %s: %s: %s\n", what, rmsnorm_status_name(status),
          rmsnorm_last_error());
  exit(1);
}

/* f16 is left out to keep the example short: it is filled with zeros. */
static void store(char *at, DLDataType type, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if (type.code == kDLFloat && type.bits == 32) {
    memcpy(at, &value, sizeof(value));
  } else if (type.code == kDLBfloat) {
    uint16_t upper = (uint16_t)(bits >> 16); /* exact for our small values */
    memcpy(at, &upper, sizeof(upper));
  } else {
    memset(at, 0, type.bits / 8);
  }
}

static float load(const char *at, DLDataType type) {
  uint32_t bits = 0;
  float value = NAN;
  if (type.code == kDLFloat && type.bits == 32) {
    memcpy(&value, at, sizeof(value));
  } else if (type.code == kDLBfloat) {
    uint16_t upper;
    memcpy(&upper, at, sizeof(upper));
    bits = (uint32_t)upper << 16;
    memcpy(&value, &bits, sizeof(value));
  }
  return value;
}

/* A tensor together with the arrays that a DLTensor points to. */
typedef struct {
  DLTensor tensor;
  int64_t shape[MAX_RANK];
  int64_t elements;
  uint64_t bytes;
  char *host; /* a copy on the host */
} buffer;

/* Allocates a packed tensor for an argument and puts something in it. */
static void make(rmsnorm_device *device, DLDevice place,
                 const rmsnorm_argument_info *info, const int64_t *symbols,
                 buffer *b) {
  b->elements = 1;
  for (int32_t d = 0; d < info->rank; ++d) {
    int64_t size = info->dims[d]; /* negative: a symbol */
    if (size < 0)
      size = symbols[-1 - size];
    b->shape[d] = size;
    b->elements *= size;
  }
  size_t element = info->dtype.bits / 8;
  b->bytes = (uint64_t)b->elements * element;
  b->host = calloc(b->bytes ? b->bytes : 1, 1);
  for (int64_t i = 0; i < b->elements; ++i)
    if (info->role != RMSNORM_OUTPUT)
      store(b->host + i * element, info->dtype, (float)(i % 7) - 2.5f);
  memset(&b->tensor, 0, sizeof(b->tensor));
  check(rmsnorm_device_allocate(device, b->bytes, &b->tensor.data), "memory");
  check(rmsnorm_device_copy(device, b->tensor.data, b->host, b->bytes,
                            RMSNORM_HOST_TO_DEVICE, NULL),
        "copy to the device");
  b->tensor.device = place;
  b->tensor.ndim = info->rank;
  b->tensor.dtype = info->dtype;
  b->tensor.shape = b->shape;
  b->tensor.strides = NULL; /* packed; any row stride would do as well */
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 5) {
    fprintf(stderr,
            "usage: launch MODULE.rmsn [sim|cuda|hip] [ENTRY] [ROWS]\n");
    return 2;
  }
  const char *where = argc > 2 ? argv[2] : "sim";
  if (strcmp(where, "sim") && strcmp(where, "cuda") && strcmp(where, "hip")) {
    fprintf(stderr, "launch: expected sim, cuda or hip, got '%s'\n", where);
    return 2;
  }
  char *end = NULL;
  int64_t rows = argc > 4 ? strtoll(argv[4], &end, 10) : 4;
  if (end && (end == argv[4] || *end || rows < 0 || rows > INT32_MAX)) {
    fprintf(stderr,
            "launch: expected a number of rows from 0 to %d, got '%s'\n",
            INT32_MAX, argv[4]);
    return 2;
  }

  /* 1. The module: read and checked as a whole; no code is loaded yet. */
  rmsnorm_module *module = NULL;
  check(rmsnorm_module_open_file(argv[1], &module), "opening the module");

  /* 2. A device. Without a driver the message lists where it was looked for. */
  rmsnorm_backend backend = strcmp(where, "cuda") == 0  ? RMSNORM_CUDA
                            : strcmp(where, "hip") == 0 ? RMSNORM_HIP
                                                        : RMSNORM_SIM;
  rmsnorm_device *device = NULL;
  check(rmsnorm_device_open(backend, NULL, &device), "opening the device");
  rmsnorm_device_info place;
  check(rmsnorm_device_get_info(device, &place), "asking the device");

  /* 3. The function: kernels are loaded here, once, and never later. */
  size_t entry = 0;
  rmsnorm_entry_info info;
  if (argc > 3)
    check(rmsnorm_module_find_entry(module, argv[3], &entry), "the entry");
  check(rmsnorm_module_get_entry(module, entry, &info), "the entry");
  rmsnorm_function *function = NULL;
  check(rmsnorm_prepare(module, info.name, device, &function), "preparing");
  rmsnorm_function_info prepared;
  check(rmsnorm_function_get_info(function, &prepared), "asking the function");
  if (*prepared.warning)
    fprintf(stderr, "launch: warning: %s\n", prepared.warning);

  /* 4. Tensors, in the order of the entry's arguments, outputs included. */
  if (info.argument_count > MAX_ARGUMENTS) {
    fprintf(stderr, "launch: expected at most %d arguments\n", MAX_ARGUMENTS);
    return 1;
  }
  int64_t symbols[RMSNORM_MAX_SYMBOLS]; /* sizes that the call chooses */
  for (int k = 0; k < RMSNORM_MAX_SYMBOLS; ++k)
    symbols[k] = -1;
  for (size_t a = 0; a < info.argument_count; ++a) {
    rmsnorm_argument_info argument;
    check(rmsnorm_module_get_argument(module, entry, a, &argument),
          "the argument");
    for (int32_t d = 0; d < argument.rank; ++d) {
      int64_t k = -1 - argument.dims[d];
      if (k >= 0 && !(info.derived_symbols >> k & 1))
        symbols[k] = d == argument.rank - 1 ? DYNAMIC_COLUMNS : rows;
    }
  }
  /* The others follow, such as the rows of a result that merges dimensions. */
  check(rmsnorm_module_infer_sizes(module, entry, symbols), "the sizes");
  buffer buffers[MAX_ARGUMENTS];
  DLTensor *arguments[MAX_ARGUMENTS];
  for (size_t a = 0; a < info.argument_count; ++a) {
    rmsnorm_argument_info argument;
    check(rmsnorm_module_get_argument(module, entry, a, &argument),
          "the argument");
    make(device, place.dl_device, &argument, symbols, &buffers[a]);
    arguments[a] = &buffers[a].tensor;
  }

  /* 5. The call: checks, then puts the kernels on the stream (here the default
   * one) and returns. The workspace, if any, is ours. */
  uint64_t workspace_bytes = 0;
  void *workspace = NULL;
  check(rmsnorm_workspace_size(function, arguments, info.argument_count,
                               &workspace_bytes),
        "the workspace");
  check(rmsnorm_device_allocate(device, workspace_bytes, &workspace),
        "memory for the workspace");
  check(rmsnorm_launch(function, arguments, info.argument_count, workspace,
                       workspace_bytes, NULL),
        "launching");
  check(rmsnorm_stream_synchronize(device, NULL), "waiting");

  /* 6. The results. */
  printf("%s on %s (%s)\n", info.name, place.name, prepared.target);
  for (size_t a = 0; a < info.argument_count; ++a) {
    rmsnorm_argument_info argument;
    check(rmsnorm_module_get_argument(module, entry, a, &argument),
          "the argument");
    buffer *b = &buffers[a];
    if (argument.role != RMSNORM_INPUT) {
      check(rmsnorm_device_copy(device, b->host, b->tensor.data, b->bytes,
                                RMSNORM_DEVICE_TO_HOST, NULL),
            "copy to the host");
      printf("  %s:", argument.name);
      for (int64_t i = 0; i < b->elements && i < 8; ++i)
        printf(" %g",
               load(b->host + i * (argument.dtype.bits / 8), argument.dtype));
      printf(" ...\n");
    }
    check(rmsnorm_device_free(device, b->tensor.data), "freeing");
    free(b->host);
  }
  check(rmsnorm_device_free(device, workspace), "freeing");
  rmsnorm_function_release(function);
  rmsnorm_device_close(device);
  rmsnorm_module_close(module);
  return 0;
}
