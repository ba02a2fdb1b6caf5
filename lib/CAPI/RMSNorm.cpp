// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNorm.cpp - C API of the dialect and the compiler ---------------===//

#include "RMSNorm-c/RMSNorm.h"

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/InitAll.h"
#include "RMSNorm/Pipelines/Compile.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace mlir::rmsnorm;

DEFINE_C_API_PTR_METHODS(RMSNormCompileOptions, CompileOptions)

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(RMSNorm, rmsnorm, RMSNormDialect)

void rmsnormRegisterAllDialects(MlirDialectRegistry registry) {
  registerAllDialects(*unwrap(registry));
  registerAllExtensions(*unwrap(registry));
  registerSerialization(*unwrap(registry));
}

void rmsnormRegisterAllPasses(void) { registerAllPasses(); }

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static_assert(RMSNormCastingGemma == int(Casting::gemma) &&
              RMSNormCastingLlama == int(Casting::llama) &&
              RMSNormCastingNone == int(Casting::none));

bool rmsnormAttributeIsACasting(MlirAttribute attribute) {
  return isa<CastingAttr>(unwrap(attribute));
}

MlirAttribute rmsnormCastingAttrGet(MlirContext context,
                                    RMSNormCasting casting) {
  unwrap(context)->getOrLoadDialect<RMSNormDialect>();
  return wrap(CastingAttr::get(unwrap(context), Casting(casting)));
}

RMSNormCasting rmsnormCastingAttrGetValue(MlirAttribute attribute) {
  return RMSNormCasting(cast<CastingAttr>(unwrap(attribute)).getValue());
}

bool rmsnormAttributeIsATarget(MlirAttribute attribute) {
  return isa<TargetAttr>(unwrap(attribute));
}

MlirAttribute rmsnormTargetAttrGetChecked(MlirLocation location,
                                          MlirStringRef spelling) {
  Location loc = unwrap(location);
  loc.getContext()->getOrLoadDialect<RMSNormDialect>();
  return wrap(Attribute(TargetAttr::parseSpelling(loc, unwrap(spelling))));
}

MlirStringRef rmsnormTargetAttrGetChip(MlirAttribute attribute) {
  return wrap(cast<TargetAttr>(unwrap(attribute)).getChip());
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

RMSNormCompileOptions rmsnormCompileOptionsCreate(void) {
  return wrap(new CompileOptions);
}

void rmsnormCompileOptionsDestroy(RMSNormCompileOptions options) {
  delete unwrap(options);
}

void rmsnormCompileOptionsAddTarget(RMSNormCompileOptions options,
                                    MlirStringRef target) {
  unwrap(options)->targets.push_back(unwrap(target).str());
}

void rmsnormCompileOptionsSetSchedule(RMSNormCompileOptions options,
                                      MlirStringRef schedule) {
  unwrap(options)->schedule = unwrap(schedule).str();
}

void rmsnormCompileOptionsSetBatchInvariant(RMSNormCompileOptions options,
                                            bool invariant) {
  unwrap(options)->batchInvariant = invariant;
}

void rmsnormCompileOptionsSetSMMargin(RMSNormCompileOptions options,
                                      int64_t multiprocessors) {
  unwrap(options)->smMargin = multiprocessors;
}

void rmsnormCompileOptionsSetTuning(RMSNormCompileOptions options,
                                    MlirStringRef file) {
  unwrap(options)->tuning = unwrap(file).str();
}

void rmsnormCompileOptionsSetHostOptimization(RMSNormCompileOptions options,
                                              unsigned level) {
  unwrap(options)->serialize.hostOptimization = level;
}

void rmsnormCompileOptionsSetCodeObjectVersion(RMSNormCompileOptions options,
                                               unsigned version) {
  unwrap(options)->serialize.codeObjectVersion = version;
}

void rmsnormCompileOptionsSetPtxas(RMSNormCompileOptions options,
                                   MlirStringRef path) {
  unwrap(options)->serialize.ptxas = unwrap(path).str();
}

MlirLogicalResult rmsnormCompileModule(MlirModule module,
                                       RMSNormCompileOptions options,
                                       MlirStringCallback callback,
                                       void *userData) {
  FailureOr<std::string> bytes =
      compileModule(unwrap(module), *unwrap(options));
  if (failed(bytes))
    return wrap(failure());
  callback(wrap(StringRef(*bytes)), userData);
  return wrap(success());
}
