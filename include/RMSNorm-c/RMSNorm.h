/*===- RMSNorm-c/RMSNorm.h - C API of the dialect and the compiler --------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * By the conventions of MLIR's C API, beside which it is used. Pipelines are
 * had by their names, after rmsnormRegisterAllPasses:
 *
 *   mlirParsePassPipeline(manager, "builtin.module(rmsnorm-tensor-half,...)")
 *
 * To run what rmsnormCompileModule returns: rmsnorm/rmsnorm.h, another library.
 */
#ifndef RMSNORM_C_RMSNORM_H
#define RMSNORM_C_RMSNORM_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/*--- Registration ---------------------------------------------------------*/

/* The rmsnorm dialect alone, enough to build and parse its ops. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(RMSNorm, rmsnorm);

/* Also the dialects that our passes create, the interfaces of theirs that the
 * passes use, and the translations that rmsnormCompileModule needs. */
MLIR_CAPI_EXPORTED void
rmsnormRegisterAllDialects(MlirDialectRegistry registry);

/* Our passes and pipelines, and upstream's that docs/host-code.md has around
 * them up to machine code. */
MLIR_CAPI_EXPORTED void rmsnormRegisterAllPasses(void);

/*--- Attributes -----------------------------------------------------------*/

/* Where a norm rounds to the input type, see rmsnorm.forward. */
typedef enum RMSNormCasting {
  RMSNormCastingGemma = 0,
  RMSNormCastingLlama = 1,
  RMSNormCastingNone = 2
} RMSNormCasting;

MLIR_CAPI_EXPORTED bool rmsnormAttributeIsACasting(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute rmsnormCastingAttrGet(MlirContext context,
                                                       RMSNormCasting casting);
MLIR_CAPI_EXPORTED RMSNormCasting
rmsnormCastingAttrGetValue(MlirAttribute attribute);

/* #rmsnorm.target, from its command-line spelling: "sm_90", "sim:gfx942". Null,
 * and an error in the location's context, if there is no such chip. */
MLIR_CAPI_EXPORTED bool rmsnormAttributeIsATarget(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute
rmsnormTargetAttrGetChecked(MlirLocation location, MlirStringRef spelling);
/* "sm_90", without "sim:". Lives as long as the context. */
MLIR_CAPI_EXPORTED MlirStringRef
rmsnormTargetAttrGetChip(MlirAttribute attribute);

/*--- Compilation ----------------------------------------------------------*/

typedef struct RMSNormCompileOptions {
  void *ptr;
} RMSNormCompileOptions;

/* No target, and norm-compile's defaults for all else. */
MLIR_CAPI_EXPORTED RMSNormCompileOptions rmsnormCompileOptionsCreate(void);
MLIR_CAPI_EXPORTED void
rmsnormCompileOptionsDestroy(RMSNormCompileOptions options);

/* What norm-compile's options of these names take; strings are copied. */
MLIR_CAPI_EXPORTED void
rmsnormCompileOptionsAddTarget(RMSNormCompileOptions options,
                               MlirStringRef target);
MLIR_CAPI_EXPORTED void
rmsnormCompileOptionsSetSchedule(RMSNormCompileOptions options,
                                 MlirStringRef schedule);
MLIR_CAPI_EXPORTED void
rmsnormCompileOptionsSetBatchInvariant(RMSNormCompileOptions options,
                                       bool invariant);
MLIR_CAPI_EXPORTED void
rmsnormCompileOptionsSetSMMargin(RMSNormCompileOptions options,
                                 int64_t multiprocessors);
MLIR_CAPI_EXPORTED void
rmsnormCompileOptionsSetTuning(RMSNormCompileOptions options,
                               MlirStringRef file);
MLIR_CAPI_EXPORTED void
rmsnormCompileOptionsSetHostOptimization(RMSNormCompileOptions options,
                                         unsigned level);
MLIR_CAPI_EXPORTED void
rmsnormCompileOptionsSetCodeObjectVersion(RMSNormCompileOptions options,
                                          unsigned version);
MLIR_CAPI_EXPORTED void
rmsnormCompileOptionsSetPtxas(RMSNormCompileOptions options,
                              MlirStringRef path);

/* Compiles every public function of `module` and gives the bytes of a .rmsn
 * module to `callback`, once. Does not change `module`, whose context must have
 * what rmsnormRegisterAllDialects registers. On failure the reasons are
 * diagnostics of that context and `callback` is not called. */
MLIR_CAPI_EXPORTED MlirLogicalResult
rmsnormCompileModule(MlirModule module, RMSNormCompileOptions options,
                     MlirStringCallback callback, void *userData);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RMSNORM_C_RMSNORM_H */
