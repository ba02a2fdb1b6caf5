//===- ModuleRules.h - rules for the parts of a module --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_MODULERULES_H
#define RMSNORM_RUNTIME_MODULERULES_H

#include "Module.h"

namespace rmsnorm::runtime {

using Arguments = flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>>;

/// A refusal; `where` names the part of the module that has the problem.
rmsnorm_status invalidModule(const std::string &where,
                             const std::string &problem);

/// A name: not empty, printable, short enough for a message.
rmsnorm_status checkName(const flatbuffers::String *string,
                         const std::string &where, const char *what,
                         unsigned limit = rmsn::kMaxNameBytes);
/// Text for people: may be absent, long, and hold line breaks.
rmsnorm_status checkProse(const flatbuffers::String *string,
                          const std::string &where, const char *what);
/// Absent expressions pass. `numLaunches`: those whose clusters it may ask for.
rmsnorm_status checkOptional(const rmsn::Expression *expression,
                             const Arguments &arguments,
                             const std::string &where, const char *what,
                             unsigned numLaunches = 0);

/// An entry's program for one target, in a module whose images are checked.
rmsnorm_status checkProgram(const rmsn::Program &program,
                            const rmsn::Module &module,
                            const Arguments &arguments,
                            const std::string &where);

} // namespace rmsnorm::runtime

#endif // RMSNORM_RUNTIME_MODULERULES_H
