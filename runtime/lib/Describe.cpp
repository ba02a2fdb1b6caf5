//===- Describe.cpp - a module as text ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Expression.h"
#include "Module.h"

#include <cstdint>
#include <cstring>

using namespace rmsnorm::runtime;

namespace {

using Arguments = flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>>;

class Describer {
public:
  explicit Describer(const Module &module) : module(module) {}
  std::string run();

private:
  void entry(const rmsn::Entry &entry);
  void argument(unsigned index, const rmsn::Argument &argument);
  void variant(unsigned index, const rmsn::Variant &variant,
               const Arguments &arguments);
  void launch(unsigned index, const rmsn::Launch &launch,
              const Arguments &arguments);
  std::string guard(const rmsn::Guard &guard, const Arguments &arguments);
  std::string parameter(const rmsn::Parameter &parameter,
                        const Arguments &arguments);
  void line(unsigned indent, const std::string &content) {
    out.append(2 * indent, ' ').append(content).push_back('\n');
  }
  /// A hostile module can unfold into terabytes of text; real ones are
  /// kilobytes.
  bool tooLong() const { return out.size() > (16u << 20); }

  const Module &module;
  std::string out;
};

std::string Describer::run() {
  const rmsn::Module &root = module.root();
  line(0, formatted("module, format %u, %zu bytes, content %016llx%016llx",
                    root.format_version(), module.size(),
                    (unsigned long long)root.content_hash()->high(),
                    (unsigned long long)root.content_hash()->low()));
  line(0, std::string("producer ") + text(root.producer()));
  for (const rmsn::Entry *e : *root.entries())
    entry(*e);
  for (unsigned i = 0; i < root.images()->size(); ++i) {
    if (tooLong())
      break;
    const rmsn::Image &image = *root.images()->Get(i);
    std::string content =
        formatted("image %u for %s: %s, chip %s", i, image.target()->c_str(),
                  backendName(image.backend()), image.chip()->c_str());
    if (image.host_isa() && image.host_isa()->size())
      content += ", host " + image.host_isa()->str();
    for (const rmsn::Binary *binary : *image.binaries())
      content +=
          formatted(", %s of %u bytes", binaryFormatName(binary->format()),
                    binary->bytes()->size());
    line(0, content);
  }
  if (tooLong())
    line(0, "... (cut)");
  return std::move(out);
}

static std::string sizeRuleText(const rmsn::SizeRule &rule,
                                const Arguments &arguments) {
  static const char *const relations[] = {"=", "<=", ">="};
  return formatted("size(%s, %u) %s ",
                   arguments.Get(rule.argument())->name()->c_str(),
                   rule.dimension(), relations[int(rule.relation())]) +
         expressionText(*rule.expression(), arguments);
}

void Describer::entry(const rmsn::Entry &entry) {
  if (tooLong())
    return;
  line(0, "entry " + entry.name()->str());
  const Arguments &arguments = *entry.arguments();
  for (unsigned i = 0; i < arguments.size(); ++i)
    argument(i, *arguments.Get(i));
  for (unsigned i = 0; entry.sizes() && i < entry.sizes()->size(); ++i)
    line(1, sizeRuleText(*entry.sizes()->Get(i), arguments));
  for (const rmsn::Program *program : *entry.programs()) {
    line(1, "program " + program->target()->str());
    for (unsigned i = 0; i < program->variants()->size(); ++i)
      variant(i, *program->variants()->Get(i), arguments);
  }
}

void Describer::argument(unsigned index, const rmsn::Argument &argument) {
  static const char *const roles[] = {"input", "output", "inout"};
  std::string content =
      formatted("argument %u %s: %s %s[", index, argument.name()->c_str(),
                roles[int(argument.role())], dataTypeName(argument.dtype()));
  auto addSizes = [&](const flatbuffers::Vector<int64_t> *sizes) {
    const char *separator = "";
    for (size_t i = 0; sizes && i < sizes->size(); ++i) {
      const int64_t size = sizes->Get(i);
      content += separator;
      content += size >= 0 ? std::to_string(size)
                           : "s" + std::to_string(-1 - size); // symbol
      separator = ", ";
    }
  };
  addSizes(argument.dims());
  content += "]";
  if (argument.dense())
    content += ", dense";
  else if (!argument.inner_contiguous())
    content += ", any inner stride";
  if (argument.alignment())
    content += formatted(", aligned to %u", argument.alignment());
  if (argument.constant())
    content += ", constant";
  if (argument.nonempty_rows())
    content += ", rows not empty";
  if (argument.max_columns())
    content +=
        formatted(", at most %lld columns", (long long)argument.max_columns());
  if (argument.bounds()) {
    content += ", indices below ";
    addSizes(argument.bounds());
  }
  line(1, content);
}

std::string Describer::guard(const rmsn::Guard &guard,
                             const Arguments &arguments) {
  if (guard.kind() == rmsn::GuardKind::PointerAligned)
    return formatted("%s aligned to %lld",
                     arguments.Get(guard.argument())->name()->c_str(),
                     (long long)guard.multiple());
  std::string value = expressionText(*guard.expression(), arguments);
  if (guard.kind() == rmsn::GuardKind::MultipleOf)
    return value +
           formatted(" a multiple of %lld", (long long)guard.multiple());
  std::string content;
  if (guard.lower() != INT64_MIN)
    content = formatted("%lld <= ", (long long)guard.lower());
  content += value;
  if (guard.upper() != INT64_MAX)
    content += formatted(" <= %lld", (long long)guard.upper());
  return content;
}

void Describer::variant(unsigned index, const rmsn::Variant &variant,
                        const Arguments &arguments) {
  if (tooLong())
    return;
  std::string content =
      formatted("variant %u %s", index, variant.name()->c_str());
  if (variant.guards() && variant.guards()->size()) {
    const char *separator = " when ";
    for (const rmsn::Guard *g : *variant.guards()) {
      content += separator + guard(*g, arguments);
      separator = ", ";
    }
  } else {
    content += " otherwise";
  }
  line(2, content);
  if (variant.schedule())
    line(3, "schedule " + variant.schedule()->str());
  if (variant.tuning_key())
    line(3, "tuning key " + variant.tuning_key()->str());
  if (variant.workspace())
    line(3, "workspace " + expressionText(*variant.workspace(), arguments) +
                " bytes");
  for (unsigned i = 0; i < variant.launches()->size(); ++i)
    launch(i, *variant.launches()->Get(i), arguments);
}

void Describer::launch(unsigned index, const rmsn::Launch &launch,
                       const Arguments &arguments) {
  if (tooLong())
    return;
  line(3, formatted("launch %u %s of image %u", index, launch.kernel()->c_str(),
                    launch.image()));
  std::string grid = expressionText(*launch.grid_x(), arguments);
  for (const rmsn::Expression *dimension : {launch.grid_y(), launch.grid_z()})
    if (dimension)
      grid += " x " + expressionText(*dimension, arguments);
  line(4, "grid " + grid);
  std::string block = std::to_string(launch.block_x());
  if (launch.block_y() != 1 || launch.block_z() != 1)
    block += formatted(" x %u x %u", launch.block_y(), launch.block_z());
  block = "block " + block +
          formatted(" threads, subgroup %u", launch.subgroup_size());
  if (launch.cluster_x() != 1)
    block += formatted(", cluster %u", launch.cluster_x());
  if (launch.blocks_per_multiprocessor() != 0)
    block += formatted(", %u per multiprocessor",
                       launch.blocks_per_multiprocessor());
  if (launch.programmatic_dependent_launch())
    block += ", programmatic dependent launch";
  line(4, block);
  if (launch.shared_memory())
    line(4, "shared memory " +
                expressionText(*launch.shared_memory(), arguments) + " bytes");
  std::string parameters;
  if (launch.parameters())
    for (const rmsn::Parameter *p : *launch.parameters())
      parameters += (parameters.empty() ? "" : ", ") + parameter(*p, arguments);
  line(4, "parameters " + (parameters.empty() ? "none" : parameters));
}

std::string Describer::parameter(const rmsn::Parameter &parameter,
                                 const Arguments &arguments) {
  auto offset = [&] {
    return parameter.expression()
               ? " + " + expressionText(*parameter.expression(), arguments)
               : std::string();
  };
  switch (parameter.kind()) {
  case rmsn::ParameterKind::Pointer:
    return "pointer " + arguments.Get(parameter.argument())->name()->str() +
           offset();
  case rmsn::ParameterKind::I64:
    return "i64 " + expressionText(*parameter.expression(), arguments);
  case rmsn::ParameterKind::I32:
    return "i32 " + expressionText(*parameter.expression(), arguments);
  case rmsn::ParameterKind::F32:
    return formatted("f32 %.9g", parameter.f32_constant());
  case rmsn::ParameterKind::Workspace:
    return "workspace" + offset();
  }
  return "?";
}

} // namespace

rmsnorm_status rmsnorm_module_describe(const rmsnorm_module *module,
                                       char **text) {
  if (!module || !text)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                module ? "text" : "module");
  std::string description = Describer(*module->module).run();
  char *copy = strdup(description.c_str());
  if (!copy)
    return fail(RMSNORM_OUT_OF_MEMORY, "no memory for %zu bytes",
                description.size());
  *text = copy;
  return RMSNORM_OK;
}
