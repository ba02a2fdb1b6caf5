// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Extract.cpp - finds code in a module ------------------------------===//

#include "Extract.h"

#include <map>

namespace norm_inspect {

/// The images that the selected variants launch kernels of, each with the first
/// such variant in words.
using Users = std::map<size_t, std::string>;

static void addImages(const rmsnorm_module *module, size_t entry,
                      size_t program, const std::string &place,
                      const Options &options, Users &users) {
  rmsnorm_variant_info variant;
  rmsnorm_launch_info launch;
  for (size_t v = 0;
       !rmsnorm_module_get_variant(module, entry, program, v, &variant); ++v) {
    if (!options.variant.empty() && options.variant != variant.name)
      continue;
    for (size_t l = 0; l < variant.launch_count; ++l)
      if (!rmsnorm_module_get_launch(module, entry, program, v, l, &launch) &&
          (options.image < 0 || launch.image == size_t(options.image)))
        users.emplace(launch.image, place + ", " + variant.name);
  }
}

static Users findImages(const rmsnorm_module *module, const Options &options) {
  Users users;
  rmsnorm_entry_info entry;
  rmsnorm_program_info program;
  for (size_t e = 0; !rmsnorm_module_get_entry(module, e, &entry); ++e) {
    if (!options.entry.empty() && options.entry != entry.name)
      continue;
    for (size_t p = 0; !rmsnorm_module_get_program(module, e, p, &program); ++p)
      if (options.target.empty() || options.target == program.target)
        addImages(module, e, p, std::string(entry.name) + ", " + program.target,
                  options, users);
  }
  return users;
}

static bool hasFormat(const rmsnorm_module *module, size_t image,
                      const std::string &format, rmsnorm_binary_info &code) {
  rmsnorm_binary_info binary;
  for (size_t b = 0; !rmsnorm_module_get_binary(module, image, b, &binary); ++b)
    if (format == binary.format) {
      code = binary;
      return true;
    }
  return false;
}

/// "image 0 (packed, sm_90, align16), image 1 (...)"; of many the first.
static std::string listImages(const Users &users) {
  std::string text;
  size_t count = 0;
  for (const auto &[image, user] : users) {
    if (++count > 8)
      return text + ", ...";
    text += (text.empty() ? "image " : ", image ") + std::to_string(image) +
            " (" + user + ")";
  }
  return text.empty() ? "none" : text;
}

std::string findCode(const rmsnorm_module *module, const Options &options,
                     rmsnorm_binary_info &code) {
  const Users all = findImages(module, options);
  Users found;
  for (const auto &[image, user] : all)
    if (hasFormat(module, image, options.format, code))
      found.emplace(image, user);
  if (found.size() == 1)
    return "";
  if (found.empty())
    return "--extract: expected an image with " + options.format +
           ", got none among those selected: " + listImages(all);
  return "--extract: expected one image, got " + std::to_string(found.size()) +
         ": " + listImages(found) +
         "; choose with --entry, --target, --variant or --image";
}

} // namespace norm_inspect
