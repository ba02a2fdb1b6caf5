//===- DescribeJson.cpp - a module as JSON --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Describe.h"
#include "Expression.h"
#include "Json.h"

using namespace rmsnorm::runtime;

namespace {

class JsonDescriber {
public:
  JsonDescriber(const Module &module, const Selection &selection)
      : module(module), selection(selection) {}
  std::string run();

private:
  void entry(const rmsn::Entry &entry);
  void argument(const rmsn::Argument &argument);
  void variant(const rmsn::Variant &variant, const Arguments &arguments);
  void launch(const rmsn::Launch &launch, const Arguments &arguments);
  void image(unsigned index, const rmsn::Image &image);

  /// Sizes and, as "s0", shape symbols.
  void sizes(const char *name, const flatbuffers::Vector<int64_t> *sizes);
  /// Null where there is none.
  void expression(const char *name, const rmsn::Expression *expression,
                  const Arguments &arguments);
  bool tooLong() const { return json.size() > kLongestDescription; }

  const Module &module;
  const Selection &selection;
  rmsnorm::json::Writer json;
};

std::string JsonDescriber::run() {
  const rmsn::Module &root = module.root();
  json.beginObject();
  json.field("format_version", root.format_version());
  json.field("producer", text(root.producer()));
  json.field("file_size", uint64_t(module.size()));
  json.field("content_hash",
             formatted("%016llx%016llx",
                       (unsigned long long)root.content_hash()->high(),
                       (unsigned long long)root.content_hash()->low()));
  json.key("entries");
  json.beginArray();
  for (const rmsn::Entry *e : *root.entries())
    if (selection.has(*e))
      entry(*e);
  json.endArray();
  json.key("images");
  json.beginArray();
  for (unsigned i = 0; i < root.images()->size() && !tooLong(); ++i)
    if (selection.hasImage(i))
      image(i, *root.images()->Get(i));
  json.endArray();
  json.endObject();
  // Half an object is of no use to a reader.
  return tooLong() ? "" : json.take();
}

void JsonDescriber::entry(const rmsn::Entry &entry) {
  if (tooLong())
    return;
  const Arguments &arguments = *entry.arguments();
  json.beginObject();
  json.field("name", entry.name()->str());
  json.key("arguments");
  json.beginArray();
  for (const rmsn::Argument *a : arguments)
    argument(*a);
  json.endArray();
  json.key("size_rules");
  json.beginArray();
  if (entry.sizes())
    for (const rmsn::SizeRule *rule : *entry.sizes())
      json.value(sizeRuleText(*rule, arguments));
  json.endArray();
  json.key("programs");
  json.beginArray();
  for (const rmsn::Program *program : *entry.programs()) {
    if (!selection.has(*program))
      continue;
    json.beginObject();
    json.field("target", program->target()->str());
    json.key("variants");
    json.beginArray();
    for (const rmsn::Variant *v : *program->variants())
      variant(*v, arguments);
    json.endArray();
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

void JsonDescriber::sizes(const char *name,
                          const flatbuffers::Vector<int64_t> *sizes) {
  json.key(name);
  json.beginRow();
  for (size_t i = 0; sizes && i < sizes->size(); ++i) {
    const int64_t size = sizes->Get(i);
    if (size >= 0)
      json.value(size);
    else
      json.value("s" + std::to_string(-1 - size));
  }
  json.endRow();
}

void JsonDescriber::expression(const char *name,
                               const rmsn::Expression *expression,
                               const Arguments &arguments) {
  json.key(name);
  if (expression)
    json.value(expressionText(*expression, arguments));
  else
    json.null();
}

void JsonDescriber::argument(const rmsn::Argument &argument) {
  json.beginObject();
  json.field("name", argument.name()->str());
  json.field("role", roleName(argument.role()));
  json.field("dtype", dataTypeName(argument.dtype()));
  sizes("dims", argument.dims());
  json.field("dense", argument.dense());
  json.field("inner_contiguous", argument.inner_contiguous());
  json.field("alignment", argument.alignment());
  json.field("constant", argument.constant());
  json.field("nonempty_rows", argument.nonempty_rows());
  json.field("max_columns", argument.max_columns());
  sizes("bounds", argument.bounds());
  json.field("distinct", argument.distinct());
  json.endObject();
}

void JsonDescriber::variant(const rmsn::Variant &variant,
                            const Arguments &arguments) {
  if (tooLong())
    return;
  json.beginObject();
  json.field("name", variant.name()->str());
  json.key("guards");
  json.beginArray();
  if (variant.guards())
    for (const rmsn::Guard *guard : *variant.guards())
      json.value(guardText(*guard, arguments));
  json.endArray();
  json.field("schedule", text(variant.schedule()));
  json.field("tuning_key", text(variant.tuning_key()));
  expression("workspace", variant.workspace(), arguments);
  json.key("launches");
  json.beginArray();
  for (const rmsn::Launch *l : *variant.launches())
    launch(*l, arguments);
  json.endArray();
  json.endObject();
}

void JsonDescriber::launch(const rmsn::Launch &launch,
                           const Arguments &arguments) {
  if (tooLong())
    return;
  json.beginObject();
  json.field("kernel", launch.kernel()->str());
  json.field("image", launch.image());
  json.key("grid");
  json.beginRow();
  for (const rmsn::Expression *size :
       {launch.grid_x(), launch.grid_y(), launch.grid_z()})
    json.value(size ? expressionText(*size, arguments) : "1");
  json.endRow();
  json.key("block");
  json.beginRow();
  for (uint32_t size : {launch.block_x(), launch.block_y(), launch.block_z()})
    json.value(size);
  json.endRow();
  json.field("cluster", launch.cluster_x());
  json.field("subgroup_size", launch.subgroup_size());
  json.field("blocks_per_multiprocessor", launch.blocks_per_multiprocessor());
  json.field("programmatic_dependent_launch",
             launch.programmatic_dependent_launch());
  expression("shared_memory", launch.shared_memory(), arguments);
  json.key("parameters");
  json.beginArray();
  if (launch.parameters())
    for (const rmsn::Parameter *parameter : *launch.parameters())
      json.value(parameterText(*parameter, arguments));
  json.endArray();
  json.endObject();
}

void JsonDescriber::image(unsigned index, const rmsn::Image &image) {
  json.beginObject();
  json.field("index", index);
  json.field("target", image.target()->str());
  json.field("backend", backendName(image.backend()));
  json.field("chip", image.chip()->str());
  json.field("host_isa", text(image.host_isa()));
  json.key("binaries");
  json.beginArray();
  for (const rmsn::Binary *binary : *image.binaries()) {
    json.beginObject();
    json.field("format", binaryFormatName(binary->format()));
    json.field("size", uint64_t(binary->bytes()->size()));
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

} // namespace

std::string rmsnorm::runtime::describeAsJson(const Module &module,
                                             const Selection &selection) {
  return JsonDescriber(module, selection).run();
}
