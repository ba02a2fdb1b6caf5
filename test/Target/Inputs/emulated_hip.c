/* A libamdhip64 whose device is AMD's emulator: with it as RMSNORM_HIP_LIBRARY
 * everything that runs on HIP devices runs code objects there, in its own
 * process and memory. The interpreter is Debian's, which has the numpy that the
 * emulator (amd_emulate.py in $AMDEMU_TOOL) needs; emulated_hip.py lies beside
 * this file, in $EMULATED_HIP. $EMULATED_CHIP is the chip, such as gfx942. What
 * kernels may reach is what was allocated or registered here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FAILED = 1,
  OUT_OF_MEMORY = 2,
  MOST_BUFFERS = 1 << 16,
  MULTIPROCESSORS = 63,
  SHARED_MEMORY = 74
};

typedef struct {
  uint64_t begin, end;
} Buffer;
static Buffer buffers[MOST_BUFFERS];
static int bufferCount;

typedef struct {
  int64_t module; /* what emulated_hip.load returned */
  char name[512];
} Function;

static int (*runString)(const char *);

/* Runs a line of emulated_hip; it prints why it fails. */
static int call(const char *format, ...) {
  char line[2048];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  return length >= (int)sizeof line || runString(line) ? FAILED : 0;
}

const char *hipGetErrorName(int error) {
  return error == OUT_OF_MEMORY ? "hipErrorOutOfMemory" : "hipErrorEmulated";
}
const char *hipGetErrorString(int error) {
  return error == OUT_OF_MEMORY ? "no memory" : "see the emulator's output";
}

int hipInit(unsigned flags) {
  if (runString)
    return 0;
  void *python = NULL;
  for (int minor = 20; minor >= 11 && !python; --minor) {
    char name[64];
    snprintf(name, sizeof name, "libpython3.%d.so.1.0", minor);
    python = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  }
  if (!python)
    return FAILED;
  setenv("PYTHONHOME", "/usr", 1);
  void (*initialise)(int) = (void (*)(int))dlsym(python, "Py_InitializeEx");
  runString = (int (*)(const char *))dlsym(python, "PyRun_SimpleString");
  initialise(0);
  return call("import os, sys; sys.dont_write_bytecode = True; "
              "sys.path[:0] = [os.environ['EMULATED_HIP'], "
              "os.environ['AMDEMU_TOOL']]; import emulated_hip");
}
int hipGetDeviceCount(int *count) { return *count = 1, 0; }
int hipGetDevice(int *device) { return *device = 0; }
int hipSetDevice(int device) { return device ? FAILED : 0; }
int hipDeviceGetName(char *name, int bytes, int device) {
  return snprintf(name, bytes, "the emulator"), 0;
}
int hipDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == MULTIPROCESSORS ? 4
           : attribute == SHARED_MEMORY ? 65536
                                        : 0;
  return 0;
}
int hipGetDevicePropertiesR0600(char *properties, int device) {
  const char *chip = getenv("EMULATED_CHIP");
  return chip ? snprintf(properties + 1024, 64, "%s", chip), 0 : FAILED;
}

/* An ELF ends with its section headers. */
int hipModuleLoadData(void **module, const char *data) {
  uint64_t headers;
  uint16_t count;
  memcpy(&headers, data + 40, sizeof headers);
  memcpy(&count, data + 60, sizeof count);
  *module = NULL;
  return call("emulated_hip.load(%ld, %ld, %ld)", (long)data,
              (long)(headers + 64 * count), (long)module);
}
int hipModuleUnload(void *module) { return 0; }
int hipModuleGetFunction(void **function, void *module, const char *name) {
  Function *made = calloc(1, sizeof *made);
  if (!made)
    return OUT_OF_MEMORY;
  made->module = (int64_t)module;
  snprintf(made->name, sizeof made->name, "%s", name);
  *function = made;
  return call("emulated_hip.find(%ld, '%s')", (long)module, name);
}
int hipFuncGetAttribute(int *value, int attribute, Function *function) {
  return call("emulated_hip.attribute(%ld, '%s', %d, %ld)",
              (long)function->module, function->name, attribute, (long)value);
}
int hipModuleLaunchKernel(Function *function, unsigned gx, unsigned gy,
                          unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **parameters,
                          void **extra) {
  return call("emulated_hip.launch(%ld, '%s', (%u, %u, %u), (%u, %u, %u), %u, "
              "%ld, %ld, %d)",
              (long)function->module, function->name, gx, gy, gz, bx, by, bz,
              shared, (long)parameters, (long)buffers, bufferCount);
}

int hipHostRegister(void *memory, size_t bytes, unsigned flags) {
  if (bufferCount == MOST_BUFFERS)
    return OUT_OF_MEMORY;
  buffers[bufferCount++] = (Buffer){(uint64_t)memory, (uint64_t)memory + bytes};
  return 0;
}
int hipHostUnregister(void *memory) {
  for (int i = bufferCount; i-- > 0;)
    if (buffers[i].begin == (uint64_t)memory)
      return buffers[i] = buffers[--bufferCount], 0;
  return FAILED;
}
/* Full of NaNs, and with space between any two. */
int hipMalloc(void **memory, size_t bytes) {
  if (posix_memalign(memory, 256, bytes + 512))
    return OUT_OF_MEMORY;
  memset(*memory, 0xff, bytes + 512);
  return hipHostRegister(*memory, bytes, 0);
}
int hipMallocManaged(void **memory, size_t bytes, unsigned flags) {
  return hipMalloc(memory, bytes);
}
int hipFree(void *memory) {
  int result = memory ? hipHostUnregister(memory) : 0;
  free(memory);
  return result;
}
int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                   void *stream) {
  return memmove(to, from, bytes), 0;
}
int hipMemsetAsync(void *memory, int value, size_t bytes, void *stream) {
  return memset(memory, value, bytes), 0;
}

/* A launch has ended when it returns. */
int hipStreamCreateWithFlags(void **stream, unsigned flags) {
  return *stream = &buffers, 0;
}
int hipStreamDestroy(void *stream) { return 0; }
int hipStreamSynchronize(void *stream) { return 0; }
int hipStreamWaitEvent(void *stream, void *event, unsigned flags) { return 0; }
int hipEventCreate(void **event) { return *event = &buffers, 0; }
int hipEventDestroy(void *event) { return 0; }
int hipEventRecord(void *event, void *stream) { return 0; }
int hipEventSynchronize(void *event) { return 0; }
int hipEventElapsedTime(float *milliseconds, void *from, void *to) {
  return *milliseconds = 1, 0;
}
