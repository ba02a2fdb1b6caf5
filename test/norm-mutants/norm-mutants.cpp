// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-mutants.cpp - kernels against another program's oracle -------===//
//
//   norm-mutants [OPTIONS OF norm-run] MODULE.rmsn
//
// The entries @NAME__MUTATION of a module have the arguments of its entry
// @NAME. Their kernels run on its inputs and are compared with its oracle.
// Succeeds if every entry without a mutation is right and every mutant is
// wrong.
//
//===----------------------------------------------------------------------===//

#include "../../tools/trial/Open.h"
#include "../../tools/trial/Table.h"

#include <cstdio>
#include <map>

using namespace trial;

static int fail(const std::string &text) {
  std::fprintf(stderr, "norm-mutants: error: %s\n", text.c_str());
  return 2;
}

int main(int argc, char **argv) {
  Options options;
  std::string error;
  if (!parseOptions(argc, argv, "norm-mutants", options, error))
    return fail(error);
  rmsnorm_device *device = openDevice(options, error);
  if (!device || options.inputs.size() != 1)
    return fail(device ? "expected one module" : error);
  rmsnorm_module *module =
      openModule(options.inputs[0], device, options, {}, error);
  rmsnorm_module_info info;
  if (!module || rmsnorm_module_get_info(module, &info))
    return fail(module ? rmsnorm_last_error() : error);
  std::vector<Plan> plans(info.entry_count);
  for (size_t i = 0; i < plans.size(); ++i)
    if (error = planEntry(module, i, options, plans[i]); !error.empty())
      return fail(error);

  bool good = true;
  Table table(plans, device, options.format);
  std::map<size_t, std::shared_ptr<Reference>> references;
  for (const Plan &plan : plans) {
    std::string name = plan.name.substr(0, plan.name.find("__"));
    size_t original;
    if (rmsnorm_module_find_entry(module, name.c_str(), &original))
      return fail(rmsnorm_last_error());
    std::shared_ptr<Reference> &reference = references[original];
    if (!reference)
      reference = makeReference(plans[original], options, error);
    if (!reference)
      return fail(error);
    Result result = runEntry(plan, device, options, reference);
    table.print(plan, result);
    bool isMutant = name != plan.name;
    bool isExpected =
        result.error.empty() &&
        result.verdict == (isMutant ? Verdict::Wrong : Verdict::Right);
    if (!isExpected)
      fail("entry '" + plan.name + "': expected it to be " +
           (isMutant ? "wrong" : "right") + "; " + result.error + result.note);
    else if (isMutant)
      std::printf("  %s\n", result.note.c_str());
    good &= isExpected;
  }
  rmsnorm_module_close(module);
  rmsnorm_device_close(device);
  return good ? 0 : 1;
}
