//===- ModuleCheck.cpp - the format's rules -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FlatBuffers' verifier has proved that every offset stays in the file and
// every `required` field is there. Here, and in ProgramCheck.cpp: indices,
// enumerators, names, expressions and limits, so that preparing and launching
// need no doubts.

#include "Expression.h"
#include "ModuleRules.h"

#include <algorithm>
#include <cstring>

using namespace rmsnorm::runtime;

/// The first of `names` that stands there twice, or null.
template <typename Tables, typename GetName>
static const char *duplicate(const Tables &tables, GetName getName) {
  std::vector<const char *> names;
  for (const auto *table : tables)
    names.push_back(getName(*table));
  std::sort(names.begin(), names.end(),
            [](auto a, auto b) { return std::strcmp(a, b) < 0; });
  for (size_t i = 1; i < names.size(); ++i)
    if (std::strcmp(names[i - 1], names[i]) == 0)
      return names[i];
  return nullptr;
}

static rmsnorm_status checkImage(const rmsn::Image &image,
                                 const std::string &where) {
  RMSNORM_TRY(checkName(image.target(), where, "target"));
  RMSNORM_TRY(checkName(image.chip(), where, "chip"));
  RMSNORM_TRY(checkProse(image.host_isa(), where, "host ISA"));
  rmsn::Backend backend;
  if (!backendOfTarget(image.target()->c_str(), backend))
    return invalidModule(
        where, formatted("unknown target '%s'", image.target()->c_str()));
  if (image.backend() != backend)
    return invalidModule(where, formatted("expected backend %s for target '%s'",
                                          backendName(backend),
                                          image.target()->c_str()));
  if (image.binaries()->size() == 0 || image.binaries()->size() > 16)
    return invalidModule(where, formatted("expected 1..16 binaries, got %u",
                                          image.binaries()->size()));
  for (const rmsn::Binary *binary : *image.binaries()) {
    if (binary->format() > rmsn::BinaryFormat::Elf)
      return invalidModule(where, formatted("unknown binary format %u",
                                            unsigned(binary->format())));
    bool fits;
    switch (binary->format()) {
    case rmsn::BinaryFormat::Ptx:
    case rmsn::BinaryFormat::Cubin:
      fits = backend == rmsn::Backend::Cuda;
      break;
    case rmsn::BinaryFormat::Hsaco:
      fits = backend == rmsn::Backend::Hip;
      break;
    default:
      fits = backend == rmsn::Backend::Sim || backend == rmsn::Backend::Oracle;
      break;
    }
    if (!fits)
      return invalidModule(where, formatted("a binary of format %s is not for "
                                            "backend %s",
                                            binaryFormatName(binary->format()),
                                            backendName(backend)));
    if (binary->bytes()->size() == 0)
      return invalidModule(where,
                           formatted("the %s binary is empty",
                                     binaryFormatName(binary->format())));
  }
  return RMSNORM_OK;
}

static rmsnorm_status checkArgument(const rmsn::Argument &argument,
                                    std::string where) {
  if (argument.role() > rmsn::Role::InOut)
    return invalidModule(
        where, formatted("unknown role %u", unsigned(argument.role())));
  if (argument.dtype() > rmsn::DataType::MAX)
    return invalidModule(
        where, formatted("unknown data type %u", unsigned(argument.dtype())));
  uint32_t alignment = argument.alignment();
  if (alignment > 4096 || (alignment & (alignment - 1)))
    return invalidModule(where,
                         formatted("expected an alignment that is a power of "
                                   "two <= 4096, got %u",
                                   alignment));
  for (const auto *sizes : {argument.dims(), argument.bounds()})
    for (size_t i = 0; sizes && i < sizes->size(); ++i)
      if (sizes->Get(i) < -int64_t(rmsn::kMaxSymbols))
        return invalidModule(
            where, formatted("expected a size >= 0 or a symbol "
                             "-%u..-1, got %lld",
                             rmsn::kMaxSymbols, (long long)sizes->Get(i)));
  if (argument.max_columns() < 0)
    return invalidModule(where,
                         formatted("expected a limit of columns >= 0, got "
                                   "%lld",
                                   (long long)argument.max_columns()));
  return RMSNORM_OK;
}

static rmsnorm_status checkSizeRule(const rmsn::SizeRule &rule,
                                    const Arguments &arguments,
                                    const std::string &where) {
  if (rule.relation() > rmsn::SizeRelation::MAX)
    return invalidModule(
        where, formatted("unknown relation %u", unsigned(rule.relation())));
  const rmsn::ExpressionOp size(0, rmsn::ExpressionOpcode::Size,
                                rule.dimension(), rule.argument());
  std::string why;
  if (!checkOperand(size, arguments, why) ||
      !checkExpression(*rule.expression(), arguments, 0, why))
    return invalidModule(where, why);
  for (const rmsn::ExpressionOp *op : *rule.expression()->ops())
    if (op->opcode() == rmsn::ExpressionOpcode::Stride ||
        op->opcode() == rmsn::ExpressionOpcode::DeviceAttribute)
      return invalidModule(
          where, formatted("expected an expression of sizes, got %s",
                           rmsn::EnumNameExpressionOpcode(op->opcode())));
  return RMSNORM_OK;
}

static rmsnorm_status checkEntry(const rmsn::Entry &entry,
                                 const rmsn::Module &module) {
  RMSNORM_TRY(checkName(entry.name(), "module", "entry name"));
  std::string where = formatted("entry '%s'", entry.name()->c_str());
  const Arguments &arguments = *entry.arguments();
  if (arguments.size() == 0 || arguments.size() > rmsn::kMaxArguments)
    return invalidModule(where,
                         formatted("expected 1..%u arguments, got %u",
                                   rmsn::kMaxArguments, arguments.size()));
  // Names and ranks first: expressions refer to other arguments.
  for (const rmsn::Argument *a : arguments) {
    RMSNORM_TRY(checkName(a->name(), where, "argument name"));
    if (a->dims() && a->dims()->size() > rmsn::kMaxRank)
      return invalidModule(where,
                           formatted("argument '%s': expected rank <= %u, got "
                                     "%u",
                                     a->name()->c_str(), rmsn::kMaxRank,
                                     a->dims()->size()));
    // Handed out as an array; the verifier looks at its length word only. The
    // builder does not align a vector without elements: a scalar has no sizes.
    for (const auto *sizes : {a->dims(), a->bounds()})
      if (sizes && sizes->size() &&
          reinterpret_cast<uintptr_t>(sizes->Data()) % alignof(int64_t))
        return invalidModule(where, formatted("argument '%s': the sizes are "
                                              "misaligned",
                                              a->name()->c_str()));
  }
  if (const char *twice =
          duplicate(arguments, [](auto &a) { return a.name()->c_str(); }))
    return invalidModule(where,
                         formatted("argument '%s' stands there twice", twice));
  for (const rmsn::Argument *a : arguments)
    RMSNORM_TRY(checkArgument(
        *a, where + formatted(", argument '%s'", a->name()->c_str())));

  const auto *sizes = entry.sizes();
  if (sizes && sizes->size() > rmsn::kMaxSizeRules)
    return invalidModule(where,
                         formatted("expected at most %u rules of sizes, got %u",
                                   rmsn::kMaxSizeRules, sizes->size()));
  for (unsigned i = 0; sizes && i < sizes->size(); ++i)
    RMSNORM_TRY(checkSizeRule(*sizes->Get(i), arguments,
                              where + formatted(", rule %u of sizes", i)));

  for (const rmsn::Program *p : *entry.programs()) {
    RMSNORM_TRY(checkName(p->target(), where, "program target"));
    RMSNORM_TRY(checkProgram(
        *p, module, arguments,
        where + formatted(", program '%s'", p->target()->c_str())));
  }
  if (const char *twice = duplicate(
          *entry.programs(), [](auto &p) { return p.target()->c_str(); }))
    return invalidModule(
        where, formatted("a program for '%s' stands there twice", twice));
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm::runtime::checkModule(const rmsn::Module &module) {
  RMSNORM_TRY(checkProse(module.producer(), "module", "producer"));
  for (unsigned i = 0; i < module.images()->size(); ++i)
    RMSNORM_TRY(checkImage(*module.images()->Get(i), formatted("image %u", i)));
  for (const rmsn::Entry *e : *module.entries())
    RMSNORM_TRY(checkEntry(*e, module));
  if (const char *twice = duplicate(*module.entries(),
                                    [](auto &e) { return e.name()->c_str(); }))
    return invalidModule("module",
                         formatted("entry '%s' stands there twice", twice));
  return RMSNORM_OK;
}

bool rmsnorm::runtime::backendOfTarget(const char *target,
                                       rmsn::Backend &backend) {
  auto startsWith = [&](const char *prefix) {
    return std::strncmp(target, prefix, std::strlen(prefix)) == 0;
  };
  if (startsWith("sm_"))
    backend = rmsn::Backend::Cuda;
  else if (startsWith("gfx"))
    backend = rmsn::Backend::Hip;
  else if (startsWith("sim:") || std::strcmp(target, "sim") == 0)
    backend = rmsn::Backend::Sim;
  else if (std::strcmp(target, "oracle") == 0)
    backend = rmsn::Backend::Oracle;
  else
    return false;
  return true;
}
