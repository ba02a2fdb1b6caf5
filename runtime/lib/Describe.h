//===- Describe.h - a module as text or JSON ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DESCRIBE_H
#define RMSNORM_RUNTIME_DESCRIBE_H

#include "Module.h"

#include <set>

namespace rmsnorm::runtime {

using Arguments = flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>>;

/// The part of a module that is described.
class Selection {
public:
  /// Fails if the module has no such entry, or no program for such a target.
  static rmsnorm_status make(const rmsn::Module &root,
                             const rmsnorm_describe_options &options,
                             Selection &selection);

  bool has(const rmsn::Entry &entry) const {
    return !onlyEntry || entry.name()->str() == onlyEntry;
  }
  bool has(const rmsn::Program &program) const {
    return !onlyTarget || program.target()->str() == onlyTarget;
  }
  bool hasImage(unsigned index) const {
    return (!onlyEntry && !onlyTarget) || images.count(index);
  }

private:
  const char *onlyEntry = nullptr, *onlyTarget = nullptr;
  /// Those that the selected programs launch kernels of.
  std::set<unsigned> images;
};

/// A hostile module can unfold into terabytes of text; real ones are kilobytes.
constexpr size_t kLongestDescription = 16u << 20;

/// "input", "output", "inout".
const char *roleName(rmsn::Role role);
/// "size(y, 0) = size(x, 0) * 4".
std::string sizeRuleText(const rmsn::SizeRule &rule,
                         const Arguments &arguments);
/// "x aligned to 16".
std::string guardText(const rmsn::Guard &guard, const Arguments &arguments);
/// "pointer x".
std::string parameterText(const rmsn::Parameter &parameter,
                          const Arguments &arguments);

/// Empty if it would be longer than kLongestDescription.
std::string describeAsJson(const Module &module, const Selection &selection);

} // namespace rmsnorm::runtime

#endif // RMSNORM_RUNTIME_DESCRIBE_H
