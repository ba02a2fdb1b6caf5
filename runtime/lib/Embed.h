//===- Embed.h - what code compiled by other compilers calls --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_EMBED_H
#define RMSNORM_RUNTIME_EMBED_H

#include "drivers/Device.h"
#include "rmsnorm/embed.h"

namespace rmsnorm::runtime {

/// Prints the message and aborts.
[[noreturn]] void die(const std::string &message);
/// Dies unless the status is RMSNORM_OK.
void check(rmsnorm_status status, const char *what);

/// The device that runs the object, opened by the first call.
rmsnorm_device &getDevice(const rmsnorm_gpu_object &object);

/// Of the calling thread.
extern thread_local void *currentStream;

} // namespace rmsnorm::runtime

#endif // RMSNORM_RUNTIME_EMBED_H
