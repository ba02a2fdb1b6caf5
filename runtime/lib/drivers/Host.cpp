//===- Host.cpp - host memory, time and native code -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Host.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace rmsnorm::runtime;

//===- Native code --------------------------------------------------------===//

#if defined(__x86_64__)
static constexpr unsigned hostMachine = EM_X86_64;
static constexpr const char *hostName = "x86-64";

/// The highest x86-64 level of this processor, 1 to 4, judged by the features
/// that came with each and that compilers use.
static int hostLevel() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
    return 1;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
    return 2;
  if (!__builtin_cpu_supports("avx512f") ||
      !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl"))
    return 3;
  return 4;
}
#elif defined(__aarch64__)
static constexpr unsigned hostMachine = EM_AARCH64;
static constexpr const char *hostName = "aarch64";
static int hostLevel() { return 1; }
#else
static constexpr unsigned hostMachine = EM_NONE;
static constexpr const char *hostName = "this processor";
static int hostLevel() { return 1; }
#endif

bool rmsnorm::runtime::hostRuns(const char *isa, std::string &host) {
  int level = hostLevel();
  host = hostName;
  if (level > 1)
    host += formatted("-v%d", level);
  if (!*isa)
    return true;
  size_t length = std::strlen(hostName);
  if (std::strncmp(isa, hostName, length) != 0)
    return false;
  const char *rest = isa + length;
  if (!*rest)
    return true;
  return rest[0] == '-' && rest[1] == 'v' && rest[2] >= '1' && rest[2] <= '9' &&
         !rest[3] && level >= rest[2] - '0';
}

/// The system's loader trusts the file that it maps: all that it reads must be
/// there.
static rmsnorm_status checkElf(const uint8_t *bytes, size_t size) {
  Elf64_Ehdr header;
  if (size < sizeof(header) || std::memcmp(bytes, ELFMAG, SELFMAG) != 0)
    return fail(RMSNORM_INVALID_MODULE, "expected an ELF shared object");
  std::memcpy(&header, bytes, sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
    return fail(RMSNORM_INVALID_MODULE, "expected a 64-bit ELF shared object");
  if (header.e_machine != hostMachine)
    return fail(RMSNORM_UNSUPPORTED,
                "expected native code for %s (ELF machine %u), got code for "
                "ELF machine %u",
                hostName, hostMachine, header.e_machine);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > size ||
      (size - header.e_phoff) / sizeof(Elf64_Phdr) < header.e_phnum)
    return fail(RMSNORM_INVALID_MODULE,
                "the ELF program headers are cut short");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes + header.e_phoff + i * sizeof(segment),
                sizeof(segment));
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      return fail(RMSNORM_INVALID_MODULE, "ELF segment %u is cut short", i);
  }
  return RMSNORM_OK;
}

HostLibrary::~HostLibrary() {
  if (handle)
    dlclose(handle);
  if (file >= 0)
    close(file);
}

rmsnorm_status HostLibrary::open(const rmsn::Image &image) {
  std::string host;
  const char *isa = text(image.host_isa());
  if (!hostRuns(isa, host))
    return fail(RMSNORM_UNSUPPORTED,
                "the module's native code for '%s' needs a host %s, this one "
                "is %s; compile the module on this machine",
                image.target()->c_str(), isa, host.c_str());
  const rmsn::Binary &binary = *findBinary(image, rmsn::BinaryFormat::Elf);
  const uint8_t *bytes = binary.bytes()->data();
  size_t size = binary.bytes()->size();
  if (rmsnorm_status status = checkElf(bytes, size))
    return fail(status, "the module's native code for '%s': %s",
                image.target()->c_str(), rmsnorm_last_error());

  file = memfd_create("rmsnorm", MFD_CLOEXEC);
  if (file < 0)
    return fail(RMSNORM_UNSUPPORTED, "memfd_create failed: %s",
                std::strerror(errno));
  for (size_t done = 0; done < size;) {
    ssize_t wrote = write(file, bytes + done, size - done);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      return fail(RMSNORM_OUT_OF_MEMORY, "cannot write %zu bytes of code: %s",
                  size, std::strerror(errno));
    done += wrote;
  }
  // The file stays open while the library is loaded: the loader knows libraries
  // by path, and another one must not get this descriptor's number.
  std::string path = formatted("/proc/self/fd/%d", file);
  handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return fail(RMSNORM_INVALID_MODULE,
                "cannot load the module's native code for '%s': %s",
                image.target()->c_str(), reason ? reason : "unknown reason");
  }
  return RMSNORM_OK;
}

void *HostLibrary::symbol(const char *name) const {
  return dlsym(handle, name);
}

//===- Memory and time ----------------------------------------------------===//

rmsnorm_status HostDevice::allocate(uint64_t bytes, void *&memory) {
  uint64_t rounded = (bytes + 255) & ~uint64_t(255);
  void *allocated =
      rounded < bytes ? nullptr : std::aligned_alloc(256, rounded);
  if (!allocated)
    return fail(RMSNORM_OUT_OF_MEMORY, "no host memory for %llu bytes",
                (unsigned long long)bytes);
  memory = allocated;
  return RMSNORM_OK;
}

rmsnorm_status HostDevice::release(void *memory) {
  std::free(memory);
  return RMSNORM_OK;
}

/// The number after `name` in a file of the kernel; without a name, the first
/// one. False if there is none.
static bool readNumber(const char *path, const char *name, uint64_t &number) {
  std::FILE *file = std::fopen(path, "r");
  if (!file)
    return false;
  bool found = false;
  char line[256];
  const size_t length = std::strlen(name);
  while (!found && std::fgets(line, sizeof line, file)) {
    unsigned long long value = 0;
    found = std::strncmp(line, name, length) == 0 &&
            std::sscanf(line + length, "%llu", &value) == 1;
    number = value;
  }
  std::fclose(file);
  return found;
}

rmsnorm_status HostDevice::getFreeMemory(uint64_t &bytes) {
  uint64_t available = 0, swap = 0, limit = 0, used = 0;
  bytes = UINT64_MAX;
  if (readNumber("/proc/meminfo", "MemAvailable:", available)) {
    readNumber("/proc/meminfo", "SwapFree:", swap);
    bytes = (available + swap) << 10;
  }
  // That of the container.
  if (readNumber("/sys/fs/cgroup/memory.max", "", limit) &&
      readNumber("/sys/fs/cgroup/memory.current", "", used))
    bytes = std::min(bytes, limit - std::min(limit, used));
  rlimit addresses;
  if (getrlimit(RLIMIT_AS, &addresses) == 0 &&
      addresses.rlim_cur != RLIM_INFINITY &&
      readNumber("/proc/self/statm", "", used)) {
    used *= uint64_t(sysconf(_SC_PAGESIZE));
    limit = addresses.rlim_cur;
    bytes = std::min(bytes, limit - std::min(limit, used));
  }
  if (bytes == UINT64_MAX)
    return fail(RMSNORM_UNSUPPORTED,
                "the system does not say how much memory is free");
  return RMSNORM_OK;
}

rmsnorm_status HostDevice::allocateManaged(uint64_t bytes, void *&memory) {
  return allocate(bytes, memory);
}

rmsnorm_status HostDevice::registerHost(void *, uint64_t) { return RMSNORM_OK; }

rmsnorm_status HostDevice::unregisterHost(void *) { return RMSNORM_OK; }

rmsnorm_status HostDevice::copy(void *destination, const void *source,
                                uint64_t bytes, rmsnorm_copy_direction,
                                void *) {
  std::memmove(destination, source, bytes);
  return RMSNORM_OK;
}

rmsnorm_status HostDevice::fill(void *memory, uint8_t value, uint64_t bytes,
                                void *) {
  std::memset(memory, value, bytes);
  return RMSNORM_OK;
}

rmsnorm_status HostDevice::createStream(void *&stream) {
  stream = nullptr;
  return RMSNORM_OK;
}

rmsnorm_status HostDevice::destroyStream(void *) { return RMSNORM_OK; }

rmsnorm_status HostDevice::synchronize(void *) { return RMSNORM_OK; }

using Clock = std::chrono::steady_clock;

rmsnorm_status HostDevice::createEvent(void *&event) {
  event = new Clock::time_point(Clock::now());
  return RMSNORM_OK;
}

void HostDevice::destroyEvent(void *event) {
  delete static_cast<Clock::time_point *>(event);
}

rmsnorm_status HostDevice::recordEvent(void *event, void *) {
  *static_cast<Clock::time_point *>(event) = Clock::now();
  return RMSNORM_OK;
}

rmsnorm_status HostDevice::waitEvent(void *, void *) { return RMSNORM_OK; }

rmsnorm_status HostDevice::synchronizeEvent(void *) { return RMSNORM_OK; }

rmsnorm_status HostDevice::elapsed(void *begin, void *end,
                                   double &milliseconds) {
  milliseconds = std::chrono::duration<double, std::milli>(
                     *static_cast<Clock::time_point *>(end) -
                     *static_cast<Clock::time_point *>(begin))
                     .count();
  return RMSNORM_OK;
}
