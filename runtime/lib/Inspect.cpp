//===- Inspect.cpp - what a module holds ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SizeRules.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace rmsnorm::runtime;

static rmsnorm_backend publicBackend(rmsn::Backend backend) {
  return static_cast<rmsnorm_backend>(backend); // same order, see below
}
static_assert(int(rmsn::Backend::Cuda) == RMSNORM_CUDA &&
              int(rmsn::Backend::Hip) == RMSNORM_HIP &&
              int(rmsn::Backend::Sim) == RMSNORM_SIM &&
              int(rmsn::Backend::Oracle) == RMSNORM_ORACLE);
static_assert(RMSNORM_MAX_SYMBOLS == rmsn::kMaxSymbols);
static_assert(int(rmsn::Role::Input) == RMSNORM_INPUT &&
              int(rmsn::Role::Output) == RMSNORM_OUTPUT &&
              int(rmsn::Role::InOut) == RMSNORM_INOUT);

/// Finds element `index` of `vector`; `what` names it in the message.
template <typename Vector, typename Table>
static rmsnorm_status at(const Vector *vector, size_t index, const char *what,
                         const Table *&table) {
  size_t count = vector ? vector->size() : 0;
  if (index >= count)
    return fail(RMSNORM_INVALID_ARGUMENT, "expected %s below %zu, got %zu",
                what, count, index);
  table = vector->Get(index);
  return RMSNORM_OK;
}

static rmsnorm_status entryAt(const rmsnorm_module *module, size_t index,
                              const void *out, const rmsn::Entry *&entry) {
  if (!module || !out)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                module ? "the result" : "module");
  return at(module->module->root().entries(), index, "an entry", entry);
}

static rmsnorm_status imageAt(const rmsnorm_module *module, size_t index,
                              const void *out, const rmsn::Image *&image) {
  if (!module || !out)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                module ? "the result" : "module");
  return at(module->module->root().images(), index, "an image", image);
}

rmsnorm_status rmsnorm_module_get_info(const rmsnorm_module *module,
                                       rmsnorm_module_info *info) {
  if (!module || !info)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                module ? "info" : "module");
  const rmsn::Module &root = module->module->root();
  *info = {text(root.producer()),
           {root.content_hash()->low(), root.content_hash()->high()},
           root.format_version(),
           module->module->size(),
           root.entries()->size(),
           root.images()->size()};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_get_entry(const rmsnorm_module *module,
                                        size_t index,
                                        rmsnorm_entry_info *info) {
  const rmsn::Entry *entry = nullptr;
  RMSNORM_TRY(entryAt(module, index, info, entry));
  bool hasOracle = false;
  for (const rmsn::Program *program : *entry->programs())
    hasOracle |= std::strcmp(program->target()->c_str(), "oracle") == 0;
  *info = {entry->name()->c_str(), entry->arguments()->size(),
           entry->programs()->size(), hasOracle,
           SizeRules(*entry, slotsOf(*entry)).derivedSymbols()};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_infer_sizes(const rmsnorm_module *module,
                                          size_t index, int64_t *symbols) {
  const rmsn::Entry *entry = nullptr;
  RMSNORM_TRY(entryAt(module, index, symbols, entry));
  return SizeRules(*entry, slotsOf(*entry)).infer(symbols);
}

rmsnorm_status rmsnorm_module_find_entry(const rmsnorm_module *module,
                                         const char *name, size_t *index) {
  if (!module || !name || !index)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                !module ? "module"
                : !name ? "name"
                        : "entry");
  std::string names;
  const auto &entries = *module->module->root().entries();
  for (size_t i = 0; i < entries.size(); ++i) {
    const char *entryName = entries.Get(i)->name()->c_str();
    if (std::strcmp(entryName, name) == 0) {
      *index = i;
      return RMSNORM_OK;
    }
    names += (i ? ", " : "") + std::string(entryName);
  }
  return fail(RMSNORM_NOT_FOUND, "the module has no entry '%s', it has: %s",
              name, names.empty() ? "none" : names.c_str());
}

rmsnorm_status rmsnorm_module_get_argument(const rmsnorm_module *module,
                                           size_t entryIndex, size_t index,
                                           rmsnorm_argument_info *info) {
  const rmsn::Entry *entry = nullptr;
  const rmsn::Argument *argument = nullptr;
  RMSNORM_TRY(entryAt(module, entryIndex, info, entry));
  RMSNORM_TRY(at(entry->arguments(), index, "an argument", argument));
  DLDataType dtype = dlDataType(argument->dtype());
  uint32_t elementBytes = (dtype.bits + 7) / 8;
  const auto *dims = argument->dims();
  const auto *bounds = argument->bounds();
  *info = {argument->name()->c_str(),
           static_cast<rmsnorm_role>(argument->role()),
           dtype,
           dataTypeName(argument->dtype()),
           dims ? int32_t(dims->size()) : 0,
           dims ? dims->data() : nullptr,
           argument->inner_contiguous(),
           argument->dense(),
           std::max(argument->alignment(), elementBytes),
           argument->constant(),
           bounds ? int32_t(bounds->size()) : 0,
           bounds ? bounds->data() : nullptr,
           argument->distinct()};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_get_program(const rmsnorm_module *module,
                                          size_t entryIndex, size_t index,
                                          rmsnorm_program_info *info) {
  const rmsn::Entry *entry = nullptr;
  const rmsn::Program *program = nullptr;
  RMSNORM_TRY(entryAt(module, entryIndex, info, entry));
  RMSNORM_TRY(at(entry->programs(), index, "a program", program));
  rmsn::Backend backend = rmsn::Backend::Cuda;
  backendOfTarget(program->target()->c_str(), backend);
  *info = {program->target()->c_str(), publicBackend(backend),
           program->variants()->size()};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_get_variant(const rmsnorm_module *module,
                                          size_t entryIndex,
                                          size_t programIndex, size_t index,
                                          rmsnorm_variant_info *info) {
  const rmsn::Entry *entry = nullptr;
  const rmsn::Program *program = nullptr;
  const rmsn::Variant *variant = nullptr;
  RMSNORM_TRY(entryAt(module, entryIndex, info, entry));
  RMSNORM_TRY(at(entry->programs(), programIndex, "a program", program));
  RMSNORM_TRY(at(program->variants(), index, "a variant", variant));
  *info = {variant->name()->c_str(), text(variant->schedule()),
           variant->guards() ? variant->guards()->size() : 0,
           variant->launches()->size()};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_get_tuning_key(const rmsnorm_module *module,
                                             size_t entryIndex,
                                             size_t programIndex, size_t index,
                                             const char **key) {
  const rmsn::Entry *entry = nullptr;
  const rmsn::Program *program = nullptr;
  const rmsn::Variant *variant = nullptr;
  RMSNORM_TRY(entryAt(module, entryIndex, key, entry));
  RMSNORM_TRY(at(entry->programs(), programIndex, "a program", program));
  RMSNORM_TRY(at(program->variants(), index, "a variant", variant));
  *key = text(variant->tuning_key());
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_get_launch(const rmsnorm_module *module,
                                         size_t entryIndex, size_t programIndex,
                                         size_t variantIndex, size_t index,
                                         rmsnorm_launch_info *info) {
  const rmsn::Entry *entry = nullptr;
  const rmsn::Program *program = nullptr;
  const rmsn::Variant *variant = nullptr;
  const rmsn::Launch *launch = nullptr;
  RMSNORM_TRY(entryAt(module, entryIndex, info, entry));
  RMSNORM_TRY(at(entry->programs(), programIndex, "a program", program));
  RMSNORM_TRY(at(program->variants(), variantIndex, "a variant", variant));
  RMSNORM_TRY(at(variant->launches(), index, "a launch", launch));
  *info = {launch->kernel()->c_str(), launch->image()};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_get_image(const rmsnorm_module *module,
                                        size_t index,
                                        rmsnorm_image_info *info) {
  const rmsn::Image *image = nullptr;
  RMSNORM_TRY(imageAt(module, index, info, image));
  *info = {image->target()->c_str(), image->chip()->c_str(),
           publicBackend(image->backend()), image->binaries()->size()};
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_module_get_binary(const rmsnorm_module *module,
                                         size_t imageIndex, size_t index,
                                         rmsnorm_binary_info *info) {
  const rmsn::Image *image = nullptr;
  const rmsn::Binary *binary = nullptr;
  RMSNORM_TRY(imageAt(module, imageIndex, info, image));
  RMSNORM_TRY(at(image->binaries(), index, "a binary", binary));
  *info = {binaryFormatName(binary->format()), binary->bytes()->data(),
           binary->bytes()->size()};
  return RMSNORM_OK;
}

void rmsnorm_free(void *memory) { std::free(memory); }
