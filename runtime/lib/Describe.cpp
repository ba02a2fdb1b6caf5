//===- Describe.cpp - a module as text ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Describe.h"
#include "Expression.h"

#include <cstdint>
#include <cstring>

using namespace rmsnorm::runtime;

rmsnorm_status Selection::make(const rmsn::Module &root,
                               const rmsnorm_describe_options &options,
                               Selection &selection) {
  selection.onlyEntry = options.entry;
  selection.onlyTarget = options.target;
  std::set<std::string> entries, targets;
  bool found = false;
  for (const rmsn::Entry *entry : *root.entries()) {
    entries.insert(entry->name()->str());
    if (!selection.has(*entry))
      continue;
    found = true;
    for (const rmsn::Program *program : *entry->programs()) {
      targets.insert(program->target()->str());
      if (!selection.has(*program))
        continue;
      for (const rmsn::Variant *variant : *program->variants())
        for (const rmsn::Launch *launch : *variant->launches())
          selection.images.insert(launch->image());
    }
  }
  auto list = [](const std::set<std::string> &names) {
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
  };
  if (!found && options.entry)
    return failWith(
        RMSNORM_NOT_FOUND,
        formatted("the module has no entry '%s', it has: ", options.entry) +
            list(entries));
  if (options.target && !targets.count(options.target))
    return failWith(RMSNORM_NOT_FOUND,
                    formatted("the module has no program for target '%s', it "
                              "has: ",
                              options.target) +
                        list(targets));
  return RMSNORM_OK;
}

const char *rmsnorm::runtime::roleName(rmsn::Role role) {
  static const char *const roles[] = {"input", "output", "inout"};
  return roles[int(role)];
}

std::string rmsnorm::runtime::sizeRuleText(const rmsn::SizeRule &rule,
                                           const Arguments &arguments) {
  static const char *const relations[] = {"=", "<=", ">="};
  return formatted("size(%s, %u) %s ",
                   arguments.Get(rule.argument())->name()->c_str(),
                   rule.dimension(), relations[int(rule.relation())]) +
         expressionText(*rule.expression(), arguments);
}

std::string rmsnorm::runtime::guardText(const rmsn::Guard &guard,
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

std::string rmsnorm::runtime::parameterText(const rmsn::Parameter &parameter,
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

namespace {

class Describer {
public:
  Describer(const Module &module, const Selection &selection)
      : module(module), selection(selection) {}
  std::string run();

private:
  void entry(const rmsn::Entry &entry);
  void argument(unsigned index, const rmsn::Argument &argument);
  void variant(unsigned index, const rmsn::Variant &variant,
               const Arguments &arguments);
  void launch(unsigned index, const rmsn::Launch &launch,
              const Arguments &arguments);
  void line(unsigned indent, const std::string &content) {
    out.append(2 * indent, ' ').append(content).push_back('\n');
  }
  bool tooLong() const { return out.size() > kLongestDescription; }

  const Module &module;
  const Selection &selection;
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
    if (selection.has(*e))
      entry(*e);
  for (unsigned i = 0; i < root.images()->size(); ++i) {
    if (tooLong())
      break;
    if (!selection.hasImage(i))
      continue;
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
    if (!selection.has(*program))
      continue;
    line(1, "program " + program->target()->str());
    for (unsigned i = 0; i < program->variants()->size(); ++i)
      variant(i, *program->variants()->Get(i), arguments);
  }
}

void Describer::argument(unsigned index, const rmsn::Argument &argument) {
  std::string content =
      formatted("argument %u %s: %s %s[", index, argument.name()->c_str(),
                roleName(argument.role()), dataTypeName(argument.dtype()));
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
    content +=
        argument.distinct() ? ", distinct indices below " : ", indices below ";
    addSizes(argument.bounds());
  }
  line(1, content);
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
      content += separator + guardText(*g, arguments);
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
      parameters +=
          (parameters.empty() ? "" : ", ") + parameterText(*p, arguments);
  line(4, "parameters " + (parameters.empty() ? "none" : parameters));
}

} // namespace

rmsnorm_status
rmsnorm_module_describe_with(const rmsnorm_module *module,
                             const rmsnorm_describe_options *options,
                             char **text) {
  if (!module || !text)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                module ? "text" : "module");
  static const rmsnorm_describe_options everything = {};
  if (!options)
    options = &everything;
  Selection selection;
  RMSNORM_TRY(Selection::make(module->module->root(), *options, selection));
  std::string description = options->json
                                ? describeAsJson(*module->module, selection)
                                : Describer(*module->module, selection).run();
  if (description.empty())
    return fail(RMSNORM_UNSUPPORTED,
                "expected a description of at most %zu bytes, got a longer one",
                kLongestDescription);
  char *copy = strdup(description.c_str());
  if (!copy)
    return fail(RMSNORM_OUT_OF_MEMORY, "no memory for %zu bytes",
                description.size());
  *text = copy;
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_describe(const rmsnorm_module *module,
                                       char **text) {
  return rmsnorm_module_describe_with(module, nullptr, text);
}
