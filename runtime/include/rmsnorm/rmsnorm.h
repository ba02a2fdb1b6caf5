/*===- rmsnorm/rmsnorm.h - C API of the rmsnorm runtime -------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens modules compiled by norm-compile (.rmsn) and launches their entries on
 * a CUDA, HIP or simulated device. Needs neither LLVM nor vendor headers; the
 * drivers are found at run time.
 *
 *   rmsnorm_module *module;      rmsnorm_module_open_file("norm.rmsn", &module)
 *   rmsnorm_device *device;      rmsnorm_device_open(RMSNORM_CUDA, NULL,
 * &device) rmsnorm_function *forward;   rmsnorm_prepare(module, "forward",
 * device, &forward) DLTensor *arguments[] = {&x, &weight, &y};
 *   rmsnorm_launch(forward, arguments, 3, NULL, 0, stream)
 *
 * Errors: every function that can fail returns a status; rmsnorm_last_error()
 * then holds a message of the calling thread that names the thing at fault,
 * what was expected and what was given. Out-parameters are left alone on
 * failure.
 *
 * Threads: any thread may call anything, except that an object must not be
 * released while another thread uses it. Objects keep what they depend on
 * alive: a function outlives the close of its module and device.
 */
#ifndef RMSNORM_RMSNORM_H
#define RMSNORM_RMSNORM_H

#include "rmsnorm/dlpack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(RMSNORM_STATIC)
#define RMSNORM_API
#elif defined(_WIN32)
#define RMSNORM_API __declspec(dllimport)
#else
#define RMSNORM_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rmsnorm_module rmsnorm_module;
typedef struct rmsnorm_device rmsnorm_device;
typedef struct rmsnorm_function rmsnorm_function;

/*--- Status ---------------------------------------------------------------*/

typedef enum {
  RMSNORM_OK = 0,
  RMSNORM_INVALID_ARGUMENT = 1, /* a tensor or a parameter of this API */
  RMSNORM_INVALID_MODULE = 2,   /* not a module, damaged, or breaks a rule */
  RMSNORM_NOT_FOUND = 3,        /* file, entry, or a program for the device */
  RMSNORM_NO_DRIVER = 4,        /* libcuda or libamdhip64 cannot be loaded */
  RMSNORM_NO_DEVICE = 5,        /* the driver has no device of that number */
  RMSNORM_UNSUPPORTED = 6,      /* this host or device cannot run the code */
  RMSNORM_OUT_OF_MEMORY = 7,
  RMSNORM_DRIVER_ERROR = 8, /* a driver call failed; message names it */
  RMSNORM_KERNEL_FAULT = 9  /* the simulator caught a kernel's error */
} rmsnorm_status;

/* Lower-case words for a status, e.g. "invalid argument". Never NULL. */
RMSNORM_API const char *rmsnorm_status_name(rmsnorm_status status);

/* Message of this thread's last failed call, valid until its next failed call;
 * "" if none failed. */
RMSNORM_API const char *rmsnorm_last_error(void);

/* Version of this library, e.g. "0.1.0". */
RMSNORM_API const char *rmsnorm_version(void);

/*--- Modules --------------------------------------------------------------*/

/* Reads and checks a whole module. No code in it is run or loaded. */
RMSNORM_API rmsnorm_status rmsnorm_module_open_file(const char *path,
                                                    rmsnorm_module **module);

/* The same from memory; the bytes are copied and may have any alignment. */
RMSNORM_API rmsnorm_status rmsnorm_module_open_memory(const void *bytes,
                                                      size_t size,
                                                      rmsnorm_module **module);

/* NULL is ignored, as in every release function here. */
RMSNORM_API void rmsnorm_module_close(rmsnorm_module *module);

/*--- What a module holds ---------------------------------------------------
 * Strings and arrays handed out point into the module and live as long as it.
 * Absent strings are "". An index out of range is RMSNORM_INVALID_ARGUMENT. */

typedef enum {
  RMSNORM_INPUT = 0,  /* only read */
  RMSNORM_OUTPUT = 1, /* every element that the program defines is written */
  RMSNORM_INOUT = 2   /* read, then overwritten */
} rmsnorm_role;

typedef enum {
  RMSNORM_CUDA = 0,
  RMSNORM_HIP = 1,
  RMSNORM_SIM = 2, /* SIMT simulator on the CPU: the real kernels, slowly */
  /* The program as written, in interval arithmetic on the CPU. Every element of
   * its tensors is complex of 128 bits, two doubles: a correct evaluation in
   * f32, with roundings where the program has them, lies between them. Both
   * NaN: a NaN for certain; -inf and inf: anything, as after a NaN that is
   * possible; -inf and NaN: the program leaves the element undefined. Where
   * integers are less than 64 bits wide their values are signed; i1: 0 and 1.
   */
  RMSNORM_ORACLE = 3
} rmsnorm_backend;

typedef struct {
  const char *producer;
  uint64_t content_hash[2]; /* low, high */
  uint32_t format_version;
  size_t file_size; /* bytes */
  size_t entry_count;
  size_t image_count;
} rmsnorm_module_info;

#define RMSNORM_MAX_SYMBOLS 64

typedef struct {
  const char *name;
  size_t argument_count;
  size_t program_count;
  bool has_oracle; /* a program for target "oracle" is in the module */
  /* Bit k: the size of shape symbol k follows from others, see
   * rmsnorm_module_infer_sizes. */
  uint64_t derived_symbols;
} rmsnorm_entry_info;

typedef struct {
  const char *name;
  rmsnorm_role role;
  DLDataType dtype;
  const char *dtype_name; /* "bf16" */
  int32_t rank;           /* 0..8 */
  /* Per dimension: >= 0 exactly that size; -1-k: shape symbol k, any size but
   * equal wherever symbol k stands among the entry's arguments, and as large as
   * the entry's rules of sizes say, which rmsnorm_module_describe shows. */
  const int64_t *dims;
  bool inner_contiguous; /* last dimension must have stride 1 */
  bool dense;            /* all strides must be those of a packed tensor */
  uint32_t alignment;    /* of the address, in bytes; at least element size */
  bool constant;         /* must not be written by earlier work in flight */
  /* The elements are indices of other arguments: at least 0 and below each of
   * these sizes, which are as in dims. Nobody checks that in a launch. */
  int32_t bound_count;
  const int64_t *bounds;
  bool distinct; /* no two elements are the same: rows are stored there */
} rmsnorm_argument_info;

typedef struct {
  const char *target; /* "sm_90", "gfx942", "sim:sm_90", "sim", "oracle" */
  rmsnorm_backend backend;
  size_t variant_count;
} rmsnorm_program_info;

typedef struct {
  const char *name;     /* "align16" */
  const char *schedule; /* #rmsnorm.schedule, as text */
  size_t guard_count;
  size_t launch_count;
} rmsnorm_variant_info;

typedef struct {
  const char *kernel; /* symbol in the image */
  size_t image;       /* index in the module */
} rmsnorm_launch_info;

typedef struct {
  const char *target;
  const char *chip;
  rmsnorm_backend backend;
  size_t binary_count;
} rmsnorm_image_info;

typedef struct {
  const char *format; /* "ptx", "cubin", "hsaco", "elf" */
  const void *bytes;
  size_t size;
} rmsnorm_binary_info;

RMSNORM_API rmsnorm_status rmsnorm_module_get_info(const rmsnorm_module *module,
                                                   rmsnorm_module_info *info);
RMSNORM_API rmsnorm_status rmsnorm_module_get_entry(
    const rmsnorm_module *module, size_t entry, rmsnorm_entry_info *info);
/* Index of the entry of that name; the message lists the names there are. */
RMSNORM_API rmsnorm_status rmsnorm_module_find_entry(
    const rmsnorm_module *module, const char *name, size_t *entry);
RMSNORM_API rmsnorm_status
rmsnorm_module_get_argument(const rmsnorm_module *module, size_t entry,
                            size_t argument, rmsnorm_argument_info *info);
/* Computes the sizes that follow from others, such as the rows of a result that
 * merges two dimensions of an input. `symbols` has RMSNORM_MAX_SYMBOLS sizes,
 * that of shape symbol k at k, negative if it is not known, and gets those that
 * follow. Fails if known ones do not fit, as a launch would. */
RMSNORM_API rmsnorm_status rmsnorm_module_infer_sizes(
    const rmsnorm_module *module, size_t entry, int64_t *symbols);
RMSNORM_API rmsnorm_status
rmsnorm_module_get_program(const rmsnorm_module *module, size_t entry,
                           size_t program, rmsnorm_program_info *info);
RMSNORM_API rmsnorm_status rmsnorm_module_get_variant(
    const rmsnorm_module *module, size_t entry, size_t program, size_t variant,
    rmsnorm_variant_info *info);
/* The key in tuning files of a variant's program, if the variant is a candidate
 * of norm-compile --schedule-space; otherwise "". */
RMSNORM_API rmsnorm_status
rmsnorm_module_get_tuning_key(const rmsnorm_module *module, size_t entry,
                              size_t program, size_t variant, const char **key);
RMSNORM_API rmsnorm_status rmsnorm_module_get_launch(
    const rmsnorm_module *module, size_t entry, size_t program, size_t variant,
    size_t launch, rmsnorm_launch_info *info);
RMSNORM_API rmsnorm_status rmsnorm_module_get_image(
    const rmsnorm_module *module, size_t image, rmsnorm_image_info *info);
RMSNORM_API rmsnorm_status
rmsnorm_module_get_binary(const rmsnorm_module *module, size_t image,
                          size_t binary, rmsnorm_binary_info *info);

/* All of it as text for people: entries, arguments, variants with guards and
 * schedules, launches with their expressions, images. Free with rmsnorm_free.
 */
RMSNORM_API rmsnorm_status rmsnorm_module_describe(const rmsnorm_module *module,
                                                   char **text);

/* The part of a module to describe, and how. All zero: everything, as text. */
typedef struct {
  const char *entry;  /* only this entry; NULL: all */
  const char *target; /* only programs for this target; NULL: all */
  bool json;          /* a JSON object instead of text */
} rmsnorm_describe_options;

/* The same of a part of it: with an entry or a target only the images that its
 * programs use. NULL options: everything. The message lists the entries or
 * targets there are if that of the options is none of them. */
RMSNORM_API rmsnorm_status rmsnorm_module_describe_with(
    const rmsnorm_module *module, const rmsnorm_describe_options *options,
    char **text);
RMSNORM_API void rmsnorm_free(void *memory);

/*--- Devices --------------------------------------------------------------*/

typedef enum {
  RMSNORM_ORDER_FORWARD = 0,
  RMSNORM_ORDER_REVERSE = 1,
  RMSNORM_ORDER_SHUFFLED = 2
} rmsnorm_thread_order;

/* Fill with rmsnorm_device_options_init, then change fields. Strings
 * need to live only during the call that takes them. */
typedef struct {
  /* Index among the driver's devices. Default 0. */
  int32_t ordinal;
  /* Take only programs for this target, e.g. "sm_90" or "sim:gfx942". NULL: the
   * best the module has for the device; on the simulator the first sim target.
   */
  const char *target;
  /* File name of the driver library, tried before and instead of the usual
   * ones. NULL: environment RMSNORM_CUDA_LIBRARY or RMSNORM_HIP_LIBRARY if set,
   * else libcuda.so.1, libcuda.so; libamdhip64.so.6, .7, .5, and without
   * number. */
  const char *driver_library;
  /* Multiprocessors that launches may fill, to leave some to other work. 0:
   * all. On the simulator it is the number it pretends to have. 0: 4. */
  int32_t multiprocessor_count;
  /* Simulator only: order in which the threads of a block are run between
   * barriers, seed of the shuffle, host threads (0: one per core). */
  rmsnorm_thread_order thread_order;
  uint64_t seed;
  int32_t worker_threads;
} rmsnorm_device_options;

RMSNORM_API void rmsnorm_device_options_init(rmsnorm_device_options *options);

/* Opens a device; NULL options are the defaults. On CUDA and HIP this uses the
 * primary context, as the vendor's run time and PyTorch do. Opening a simulator
 * or oracle device is the caller's explicit consent that native host code found
 * in modules prepared on it is loaded and run: do so for trusted modules only.
 */
RMSNORM_API rmsnorm_status rmsnorm_device_open(
    rmsnorm_backend backend, const rmsnorm_device_options *options,
    rmsnorm_device **device);
RMSNORM_API void rmsnorm_device_close(rmsnorm_device *device);

typedef struct {
  rmsnorm_backend backend;
  int32_t ordinal;
  const char *name; /* marketing name, or "SIMT simulator" */
  const char *chip; /* "sm_90", "gfx942"; "" if the driver does not say */
  int32_t multiprocessor_count; /* as launches see it */
  DLDevice dl_device;           /* what tensors on it carry */
} rmsnorm_device_info;

RMSNORM_API rmsnorm_status rmsnorm_device_get_info(const rmsnorm_device *device,
                                                   rmsnorm_device_info *info);

/*--- Functions ------------------------------------------------------------*/

/* Binds an entry to a device: picks the program, loads every kernel it may
 * launch, sets their attributes. Nothing happens lazily afterwards, so launches
 * may be captured into a CUDA graph. Kernels are loaded once per module and
 * device, however many functions use them. */
RMSNORM_API rmsnorm_status rmsnorm_prepare(rmsnorm_module *module,
                                           const char *entry,
                                           rmsnorm_device *device,
                                           rmsnorm_function **function);
RMSNORM_API void rmsnorm_function_release(rmsnorm_function *function);

typedef struct {
  size_t entry;        /* index in the module */
  size_t program;      /* index in the entry */
  const char *target;  /* of that program */
  const char *binary;  /* "cubin", "ptx", ...: what was loaded */
  const char *warning; /* "" or e.g. that the driver had to compile PTX */
} rmsnorm_function_info;

RMSNORM_API rmsnorm_status rmsnorm_function_get_info(
    const rmsnorm_function *function, rmsnorm_function_info *info);

/* Bytes of workspace a launch with tensors of these shapes and strides may
 * need, 0 if none: an upper bound over the variants that addresses could
 * select, so data pointers are not looked at and may be NULL. */
RMSNORM_API rmsnorm_status rmsnorm_workspace_size(
    const rmsnorm_function *function, DLTensor *const *arguments,
    size_t argument_count, uint64_t *bytes);

/* Checks the arguments and tells which variant a launch with them would take.
 */
RMSNORM_API rmsnorm_status rmsnorm_select_variant(
    const rmsnorm_function *function, DLTensor *const *arguments,
    size_t argument_count, size_t *variant);

/* Checks the arguments and puts the kernels on `stream` (CUstream, hipStream_t;
 * NULL: the default stream). Returns without waiting for them and allocates
 * nothing; the simulator and the oracle run before it returns and ignore the
 * stream. Zero rows is a success.
 *
 * Arguments are all tensors of the entry in order, outputs included. Required
 * of each: data type, rank, sizes (static ones, and equal ones where a symbol
 * stands), strides >= 0 and 1 in the last dimension, an address aligned to the
 * element, the device. Strides that lead nowhere may be any: of a dimension of
 * size 1, of a tensor without elements. An output's elements must be distinct,
 * and none may be an element of another argument; slices of one buffer that
 * interleave are fine.
 *
 * `workspace` is device memory of at least rmsnorm_workspace_size bytes,
 * aligned to 256, apart from all arguments, NULL if that is 0; it belongs to
 * the launch until the stream has passed it. */
RMSNORM_API rmsnorm_status rmsnorm_launch(const rmsnorm_function *function,
                                          DLTensor *const *arguments,
                                          size_t argument_count,
                                          void *workspace,
                                          uint64_t workspace_bytes,
                                          void *stream);

/* How kernels are put on a stream; added up. Results do not depend on it. */
typedef enum {
  /* No kernel starts before earlier work on the stream has ended. Without this
   * flag a kernel that waits for that work itself may: its start, and its work
   * before the wait, overlap with the end of that work (programmatic dependent
   * launch, NVIDIA sm_90 and later). Set it where that gains nothing and costs
   * some time: where the kernels before ours were not launched that way, as
   * those of most libraries are not. */
  RMSNORM_NO_EARLY_START = 1
} rmsnorm_launch_flag;

/* rmsnorm_launch, with flags; that one has none. */
RMSNORM_API rmsnorm_status rmsnorm_launch_with_flags(
    const rmsnorm_function *function, DLTensor *const *arguments,
    size_t argument_count, void *workspace, uint64_t workspace_bytes,
    void *stream, uint32_t flags);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RMSNORM_RMSNORM_H */
