//===- ModuleCheck.cpp - the format's rules -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FlatBuffers' verifier has proved that every offset stays in the file and
// every `required` field is there. Here: indices, enumerators, names,
// expressions and limits, so that preparing and launching need no doubts.

#include "Expression.h"
#include "Module.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace rmsnorm::runtime;

namespace {

using Arguments = flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>>;

/// Checks one module; `where` names the part that a message is about.
class Checker {
public:
  explicit Checker(const rmsn::Module &module) : module(module) {}
  rmsnorm_status run();

private:
  rmsnorm_status entry(const rmsn::Entry &entry);
  rmsnorm_status argument(const rmsn::Argument &argument,
                          const Arguments &arguments, std::string where);
  rmsnorm_status program(const rmsn::Program &program,
                         const Arguments &arguments, const std::string &where);
  rmsnorm_status guard(const rmsn::Guard &guard, const Arguments &arguments,
                       const std::string &where);
  rmsnorm_status launch(const rmsn::Launch &launch,
                        const rmsn::Program &program, rmsn::Backend backend,
                        const Arguments &arguments, unsigned numLaunches,
                        const std::string &where);
  rmsnorm_status parameter(const rmsn::Parameter &parameter,
                           const Arguments &arguments, unsigned numLaunches,
                           const std::string &where);
  rmsnorm_status image(const rmsn::Image &image, const std::string &where);

  /// Absent expressions pass. `numLaunches`: those whose clusters it may ask
  /// for.
  rmsnorm_status expression(const rmsn::Expression *expression,
                            const Arguments &arguments,
                            const std::string &where, const char *what,
                            unsigned numLaunches = 0);
  /// A name: not empty, printable, short enough for a message.
  rmsnorm_status name(const flatbuffers::String *string,
                      const std::string &where, const char *what,
                      unsigned limit = rmsn::kMaxNameBytes);
  /// Text for people: may be absent, long, and hold line breaks.
  rmsnorm_status prose(const flatbuffers::String *string,
                       const std::string &where, const char *what);

  const rmsn::Module &module;
};

rmsnorm_status invalid(const std::string &where, const std::string &problem) {
  return failWith(RMSNORM_INVALID_MODULE,
                  "invalid module: " + where + ": " + problem);
}

/// The first of `names` that stands there twice, or null.
template <typename Tables, typename GetName>
const char *duplicate(const Tables &tables, GetName getName) {
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

rmsnorm_status Checker::name(const flatbuffers::String *string,
                             const std::string &where, const char *what,
                             unsigned limit) {
  if (!string || string->size() == 0 || string->size() > limit)
    return invalid(where, formatted("expected a %s of 1..%u bytes, got %u",
                                    what, limit, string ? string->size() : 0));
  for (char c : *string)
    if (!rmsn::isPrintable(c))
      return invalid(where,
                     formatted("expected a printable %s, got byte 0x%02x", what,
                               uint8_t(c)));
  return RMSNORM_OK;
}

rmsnorm_status Checker::prose(const flatbuffers::String *string,
                              const std::string &where, const char *what) {
  if (!string)
    return RMSNORM_OK;
  if (string->size() > rmsn::kMaxProseBytes)
    return invalid(where,
                   formatted("expected a %s of at most %u bytes, got %u", what,
                             rmsn::kMaxProseBytes, string->size()));
  for (char c : *string)
    if (!rmsn::isPrintable(c) && c != '\n' && c != '\t')
      return invalid(where,
                     formatted("expected a printable %s, got byte 0x%02x", what,
                               uint8_t(c)));
  return RMSNORM_OK;
}

rmsnorm_status Checker::expression(const rmsn::Expression *expression,
                                   const Arguments &arguments,
                                   const std::string &where, const char *what,
                                   unsigned numLaunches) {
  std::string why;
  if (expression && !checkExpression(*expression, arguments, numLaunches, why))
    return invalid(where, std::string(what) + ": " + why);
  return RMSNORM_OK;
}

rmsnorm_status Checker::run() {
  RMSNORM_TRY(prose(module.producer(), "module", "producer"));
  for (unsigned i = 0; i < module.images()->size(); ++i)
    RMSNORM_TRY(image(*module.images()->Get(i), formatted("image %u", i)));
  for (const rmsn::Entry *e : *module.entries())
    RMSNORM_TRY(entry(*e));
  if (const char *twice = duplicate(*module.entries(),
                                    [](auto &e) { return e.name()->c_str(); }))
    return invalid("module", formatted("entry '%s' stands there twice", twice));
  return RMSNORM_OK;
}

rmsnorm_status Checker::image(const rmsn::Image &image,
                              const std::string &where) {
  RMSNORM_TRY(name(image.target(), where, "target"));
  RMSNORM_TRY(name(image.chip(), where, "chip"));
  RMSNORM_TRY(prose(image.host_isa(), where, "host ISA"));
  rmsn::Backend backend;
  if (!backendOfTarget(image.target()->c_str(), backend))
    return invalid(where,
                   formatted("unknown target '%s'", image.target()->c_str()));
  if (image.backend() != backend)
    return invalid(where,
                   formatted("expected backend %s for target '%s'",
                             backendName(backend), image.target()->c_str()));
  if (image.binaries()->size() == 0 || image.binaries()->size() > 16)
    return invalid(where, formatted("expected 1..16 binaries, got %u",
                                    image.binaries()->size()));
  for (const rmsn::Binary *binary : *image.binaries()) {
    if (binary->format() > rmsn::BinaryFormat::Elf)
      return invalid(where, formatted("unknown binary format %u",
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
      return invalid(where, formatted("a binary of format %s is not for "
                                      "backend %s",
                                      binaryFormatName(binary->format()),
                                      backendName(backend)));
    if (binary->bytes()->size() == 0)
      return invalid(where, formatted("the %s binary is empty",
                                      binaryFormatName(binary->format())));
  }
  return RMSNORM_OK;
}

rmsnorm_status Checker::entry(const rmsn::Entry &entry) {
  RMSNORM_TRY(name(entry.name(), "module", "entry name"));
  std::string where = formatted("entry '%s'", entry.name()->c_str());
  const Arguments &arguments = *entry.arguments();
  if (arguments.size() == 0 || arguments.size() > rmsn::kMaxArguments)
    return invalid(where, formatted("expected 1..%u arguments, got %u",
                                    rmsn::kMaxArguments, arguments.size()));
  // Names and ranks first: expressions refer to other arguments.
  for (const rmsn::Argument *a : arguments) {
    RMSNORM_TRY(name(a->name(), where, "argument name"));
    if (a->dims() && a->dims()->size() > rmsn::kMaxRank)
      return invalid(where, formatted("argument '%s': expected rank <= %u, got "
                                      "%u",
                                      a->name()->c_str(), rmsn::kMaxRank,
                                      a->dims()->size()));
    // Handed out as an array; the verifier looks at its length word only. The
    // builder does not align what has no elements: a scalar has no sizes.
    if (a->dims() && a->dims()->size() &&
        reinterpret_cast<uintptr_t>(a->dims()->Data()) % alignof(int64_t))
      return invalid(where, formatted("argument '%s': the sizes are misaligned",
                                      a->name()->c_str()));
  }
  if (const char *twice =
          duplicate(arguments, [](auto &a) { return a.name()->c_str(); }))
    return invalid(where, formatted("argument '%s' stands there twice", twice));
  for (const rmsn::Argument *a : arguments)
    RMSNORM_TRY(
        argument(*a, arguments,
                 where + formatted(", argument '%s'", a->name()->c_str())));

  for (const rmsn::Program *p : *entry.programs()) {
    RMSNORM_TRY(name(p->target(), where, "program target"));
    RMSNORM_TRY(
        program(*p, arguments,
                where + formatted(", program '%s'", p->target()->c_str())));
  }
  if (const char *twice = duplicate(
          *entry.programs(), [](auto &p) { return p.target()->c_str(); }))
    return invalid(where,
                   formatted("a program for '%s' stands there twice", twice));
  return RMSNORM_OK;
}

rmsnorm_status Checker::argument(const rmsn::Argument &argument,
                                 const Arguments &arguments,
                                 std::string where) {
  if (argument.role() > rmsn::Role::InOut)
    return invalid(where,
                   formatted("unknown role %u", unsigned(argument.role())));
  if (argument.dtype() > rmsn::DataType::U8)
    return invalid(
        where, formatted("unknown data type %u", unsigned(argument.dtype())));
  uint32_t alignment = argument.alignment();
  if (alignment > 4096 || (alignment & (alignment - 1)))
    return invalid(where, formatted("expected an alignment that is a power of "
                                    "two <= 4096, got %u",
                                    alignment));
  if (argument.dims())
    for (int64_t dim : *argument.dims())
      if (dim < -int64_t(rmsn::kMaxSymbols))
        return invalid(where, formatted("expected a size >= 0 or a symbol "
                                        "-%u..-1, got %lld",
                                        rmsn::kMaxSymbols, (long long)dim));
  if (argument.max_columns() < 0)
    return invalid(where, formatted("expected a limit of columns >= 0, got "
                                    "%lld",
                                    (long long)argument.max_columns()));
  const rmsn::ErrorBound *bound = argument.error_bound();
  if (!bound)
    return RMSNORM_OK;
  if (argument.role() == rmsn::Role::Input)
    return invalid(where, "an input has no error bound");
  for (float figure :
       {bound->ulps(), bound->relative(), bound->relative_per_sqrt_terms(),
        bound->magnitude(), bound->magnitude_per_sqrt_terms(),
        bound->magnitude_per_sqrt_rows(), bound->flip(), bound->flip_chance(),
        bound->flip_chance_per_sqrt_terms()})
    if (!(figure >= 0) || std::isinf(figure))
      return invalid(where, formatted("expected finite error bounds >= 0, got "
                                      "%g",
                                      double(figure)));
  RMSNORM_TRY(prose(bound->derivation(), where, "derivation"));
  RMSNORM_TRY(expression(bound->rows(), arguments, where, "error bound rows"));
  return expression(bound->terms(), arguments, where, "error bound terms");
}

rmsnorm_status Checker::program(const rmsn::Program &program,
                                const Arguments &arguments,
                                const std::string &where) {
  rmsn::Backend backend;
  if (!backendOfTarget(program.target()->c_str(), backend))
    return invalid(where, "unknown target, expected sm_*, gfx*, sim, sim:*, "
                          "oracle or magnitudes");
  const auto &variants = *program.variants();
  if (variants.size() == 0 || variants.size() > rmsn::kMaxVariants)
    return invalid(where, formatted("expected 1..%u variants, got %u",
                                    rmsn::kMaxVariants, variants.size()));
  for (const rmsn::Variant *variant : variants) {
    RMSNORM_TRY(name(variant->name(), where, "variant name"));
    std::string here =
        where + formatted(", variant '%s'", variant->name()->c_str());
    RMSNORM_TRY(prose(variant->schedule(), here, "schedule"));
    RMSNORM_TRY(prose(variant->tuning_key(), here, "tuning key"));
    if (const auto *guards = variant->guards()) {
      if (guards->size() > rmsn::kMaxGuards)
        return invalid(here, formatted("expected at most %u guards, got %u",
                                       rmsn::kMaxGuards, guards->size()));
      for (unsigned i = 0; i < guards->size(); ++i)
        RMSNORM_TRY(guard(*guards->Get(i), arguments,
                          here + formatted(", guard %u", i)));
    }
    const unsigned numLaunches = variant->launches()->size();
    if (numLaunches > rmsn::kMaxLaunches)
      return invalid(here, formatted("expected at most %u launches, got %u",
                                     rmsn::kMaxLaunches, numLaunches));
    RMSNORM_TRY(expression(variant->workspace(), arguments, here, "workspace",
                           numLaunches));
    for (unsigned i = 0; i < numLaunches; ++i)
      RMSNORM_TRY(launch(*variant->launches()->Get(i), program, backend,
                         arguments, numLaunches,
                         here + formatted(", launch %u", i)));
  }
  const auto *lastGuards = variants.Get(variants.size() - 1)->guards();
  if (lastGuards && lastGuards->size() != 0)
    return invalid(where, "expected a last variant without guards");
  return RMSNORM_OK;
}

rmsnorm_status Checker::guard(const rmsn::Guard &guard,
                              const Arguments &arguments,
                              const std::string &where) {
  if (guard.kind() > rmsn::GuardKind::InRange)
    return invalid(where, formatted("unknown kind %u", unsigned(guard.kind())));
  if (guard.multiple() <= 0)
    return invalid(where, formatted("expected a multiple > 0, got %lld",
                                    (long long)guard.multiple()));
  // Also where the kind has no use for it: no expression goes unchecked.
  RMSNORM_TRY(expression(guard.expression(), arguments, where, "expression"));
  if (guard.kind() == rmsn::GuardKind::PointerAligned) {
    if (guard.argument() >= arguments.size())
      return invalid(where, formatted("expected an argument below %u, got %u",
                                      arguments.size(), guard.argument()));
    return RMSNORM_OK;
  }
  if (!guard.expression())
    return invalid(where, "expected an expression");
  return RMSNORM_OK;
}

rmsnorm_status Checker::launch(const rmsn::Launch &launch,
                               const rmsn::Program &program,
                               rmsn::Backend backend,
                               const Arguments &arguments, unsigned numLaunches,
                               const std::string &where) {
  if (launch.image() >= module.images()->size())
    return invalid(where, formatted("expected an image below %u, got %u",
                                    module.images()->size(), launch.image()));
  const rmsn::Image &image = *module.images()->Get(launch.image());
  // The oracle and its magnitudes are one image.
  if (std::strcmp(image.target()->c_str(), program.target()->c_str()) != 0 &&
      !(backend == rmsn::Backend::Oracle && image.backend() == backend))
    return invalid(where, formatted("expected an image for the program's "
                                    "target, got one for '%s'",
                                    image.target()->c_str()));
  RMSNORM_TRY(
      name(launch.kernel(), where, "kernel name", rmsn::kMaxSymbolBytes));
  RMSNORM_TRY(
      expression(launch.grid_x(), arguments, where, "grid x", numLaunches));
  RMSNORM_TRY(
      expression(launch.grid_y(), arguments, where, "grid y", numLaunches));
  RMSNORM_TRY(
      expression(launch.grid_z(), arguments, where, "grid z", numLaunches));
  RMSNORM_TRY(
      expression(launch.shared_memory(), arguments, where, "shared memory"));
  uint32_t x = launch.block_x(), y = launch.block_y(), z = launch.block_z();
  if (x == 0 || y == 0 || z == 0 || x > 1024 || y > 1024 || z > 1024 ||
      uint64_t(x) * y * z > 1024)
    return invalid(where, formatted("expected 1..1024 threads a block, got "
                                    "%u x %u x %u",
                                    x, y, z));
  if (launch.cluster_x() == 0 || launch.cluster_x() > 16)
    return invalid(where, formatted("expected 1..16 blocks a cluster, got %u",
                                    launch.cluster_x()));
  uint32_t subgroup = launch.subgroup_size();
  if (subgroup == 0 || subgroup > 64 || (subgroup & (subgroup - 1)))
    return invalid(where, formatted("expected a subgroup size that is a power "
                                    "of two <= 64, got %u",
                                    subgroup));
  if (launch.blocks_per_multiprocessor() > rmsn::kMaxBlocksPerMultiprocessor)
    return invalid(where, formatted("expected 0..%u blocks a multiprocessor, "
                                    "got %u",
                                    rmsn::kMaxBlocksPerMultiprocessor,
                                    launch.blocks_per_multiprocessor()));
  unsigned count = launch.parameters() ? launch.parameters()->size() : 0;
  if (count > rmsn::kMaxParameters)
    return invalid(where, formatted("expected at most %u parameters, got %u",
                                    rmsn::kMaxParameters, count));
  if (backend == rmsn::Backend::Oracle && count != 0)
    return invalid(where, formatted("expected no parameters of an oracle "
                                    "function, got %u",
                                    count));
  for (unsigned i = 0; i < count; ++i)
    RMSNORM_TRY(parameter(*launch.parameters()->Get(i), arguments, numLaunches,
                          where + formatted(", parameter %u", i)));
  return RMSNORM_OK;
}

rmsnorm_status Checker::parameter(const rmsn::Parameter &parameter,
                                  const Arguments &arguments,
                                  unsigned numLaunches,
                                  const std::string &where) {
  // Also where the kind has no use for it: no expression goes unchecked.
  RMSNORM_TRY(expression(parameter.expression(), arguments, where, "expression",
                         numLaunches));
  switch (parameter.kind()) {
  case rmsn::ParameterKind::Pointer:
    if (parameter.argument() >= arguments.size())
      return invalid(where, formatted("expected an argument below %u, got %u",
                                      arguments.size(), parameter.argument()));
    return RMSNORM_OK;
  case rmsn::ParameterKind::I64:
  case rmsn::ParameterKind::I32:
    if (!parameter.expression())
      return invalid(where, "expected an expression");
    return RMSNORM_OK;
  case rmsn::ParameterKind::F32:
  case rmsn::ParameterKind::Workspace:
    return RMSNORM_OK;
  }
  return invalid(where,
                 formatted("unknown kind %u", unsigned(parameter.kind())));
}

} // namespace

rmsnorm_status rmsnorm::runtime::checkModule(const rmsn::Module &module) {
  return Checker(module).run();
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
  else if (std::strcmp(target, "oracle") == 0 ||
           std::strcmp(target, "magnitudes") == 0)
    backend = rmsn::Backend::Oracle;
  else
    return false;
  return true;
}
