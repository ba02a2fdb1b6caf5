/*===- capi.c - the C API, used from C
 * -------------------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *   rmsnorm-capi-test IN.mlir OUT.rmsn TARGET...
 */
#include "RMSNorm-c/RMSNorm.h"

#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#include <stdio.h>
#include <stdlib.h>

static void print(MlirStringRef text, void *file) {
  fwrite(text.data, 1, text.length, file);
}

static MlirLogicalResult printError(MlirDiagnostic diagnostic, void *data) {
  (void)data;
  printf("error: ");
  mlirDiagnosticPrint(diagnostic, print, stdout);
  printf("\n");
  return mlirLogicalResultSuccess();
}

static void require(bool holds, const char *what) {
  if (holds)
    return;
  printf("expected %s\n", what);
  exit(1);
}

static MlirStringRef string(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

/* MLIR's own functions know MLIR's interfaces and traits, also where they are
 * other libraries' (libMLIR.so's). */
static void testMLIR(MlirContext context, MlirModule module) {
  MlirType type = mlirTypeParseGet(context, string("tensor<4x8xbf16>"));
  require(mlirTypeIsAShaped(type) && mlirShapedTypeGetRank(type) == 2,
          "a shaped type");
  MlirOperation function =
      mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  require(!mlirOperationIsNull(mlirBlockGetTerminator(body)), "a terminator");
  MlirSymbolTable symbols =
      mlirSymbolTableCreate(mlirModuleGetOperation(module));
  require(!mlirSymbolTableIsNull(symbols), "a symbol table");
  mlirSymbolTableDestroy(symbols);
}

static void testAttributes(MlirContext context) {
  MlirAttribute llama = rmsnormCastingAttrGet(context, RMSNormCastingLlama);
  printf("casting: ");
  mlirAttributePrint(llama, print, stdout);
  require(rmsnormAttributeIsACasting(llama) &&
              rmsnormCastingAttrGetValue(llama) == RMSNormCastingLlama,
          "a casting");
  MlirLocation here = mlirLocationUnknownGet(context);
  MlirAttribute target =
      rmsnormTargetAttrGetChecked(here, string("sim:gfx942"));
  printf("\ntarget: ");
  mlirAttributePrint(target, print, stdout);
  printf("\nchip: ");
  print(rmsnormTargetAttrGetChip(target), stdout);
  printf("\n");
  require(rmsnormAttributeIsATarget(target) &&
              !rmsnormAttributeIsATarget(llama) &&
              !rmsnormAttributeIsACasting(target),
          "each of its kind");
  require(
      mlirAttributeIsNull(rmsnormTargetAttrGetChecked(here, string("sm_1"))),
      "no such target");
}

/* A pipeline by its name, on a copy of the module. */
static void testPipeline(MlirContext context, MlirModule module) {
  MlirOperation copy = mlirOperationClone(mlirModuleGetOperation(module));
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirLogicalResult parsed = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      string("builtin.module(rmsnorm-to-nvvm{target=sm_90})"), print, stdout);
  require(mlirLogicalResultIsSuccess(parsed), "a pipeline of that name");
  /* What stands around ours in docs/host-code.md is known, too. */
  MlirPassManager whole = mlirPassManagerCreate(context);
  parsed = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(whole),
      string("builtin.module(func.func(convert-elementwise-to-linalg),"
             "linalg-generalize-named-ops,rmsnorm-raise,rmsnorm-embed-tensors,"
             "eliminate-empty-tensors,one-shot-bufferize,canonicalize,cse,"
             "buffer-deallocation-pipeline,"
             "rmsnorm-embed-memrefs{target=sm_90},rmsnorm-embed-host{host=gpu},"
             "gpu-module-to-binary)"),
      print, stdout);
  require(mlirLogicalResultIsSuccess(parsed), "all passes up to machine code");
  mlirPassManagerDestroy(whole);
  require(mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, copy)),
          "that the pipeline succeeds");
  mlirOperationPrint(copy, print, stdout);
  printf("\n");
  mlirPassManagerDestroy(manager);
  mlirOperationDestroy(copy);
}

static void compile(MlirModule module, int count, char **targets, FILE *file) {
  /* [compile] */
  RMSNormCompileOptions options = rmsnormCompileOptionsCreate();
  for (int i = 0; i < count; ++i) /* "sm_90", "gfx942", ... */
    rmsnormCompileOptionsAddTarget(options, string(targets[i]));
  rmsnormCompileOptionsSetHostOptimization(options, 0);
  rmsnormCompileOptionsSetCodeObjectVersion(options, 600);
  rmsnormCompileOptionsSetSMMargin(options, 8);
  rmsnormCompileOptionsSetBatchInvariant(options, true);
  /* print is called with the module's bytes, and with `file`. */
  MlirLogicalResult result = rmsnormCompileModule(module, options, print, file);
  rmsnormCompileOptionsDestroy(options);
  /* [compile] */
  require(mlirLogicalResultIsSuccess(result), "that the module is compiled");
}

/* What is wrong is said by diagnostics, and nothing is given to the callback.
 */
static void testErrors(MlirModule module) {
  RMSNormCompileOptions options = rmsnormCompileOptionsCreate();
  require(mlirLogicalResultIsFailure(
              rmsnormCompileModule(module, options, print, stdout)),
          "an error without targets");
  rmsnormCompileOptionsAddTarget(options, string("sim"));
  rmsnormCompileOptionsSetHostOptimization(options, 4);
  require(mlirLogicalResultIsFailure(
              rmsnormCompileModule(module, options, print, stdout)),
          "an error of the level");
  rmsnormCompileOptionsSetHostOptimization(options, 3);
  rmsnormCompileOptionsSetCodeObjectVersion(options, 700);
  require(mlirLogicalResultIsFailure(
              rmsnormCompileModule(module, options, print, stdout)),
          "an error of the version");
  rmsnormCompileOptionsDestroy(options);
}

int main(int argc, char **argv) {
  require(argc >= 4, "IN.mlir OUT.rmsn TARGET...");
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  rmsnormRegisterAllDialects(registry);
  rmsnormRegisterAllPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirContextAttachDiagnosticHandler(context, printError, NULL, NULL);
  printf("dialect: ");
  print(mlirDialectHandleGetNamespace(mlirGetDialectHandle__rmsnorm__()),
        stdout);
  printf("\n");
  testAttributes(context);

  MlirModule module = mlirModuleCreateParseFromFile(context, string(argv[1]));
  require(!mlirModuleIsNull(module), "a module in the file");
  testMLIR(context, module);
  testPipeline(context, module);

  testErrors(module);
  FILE *file = fopen(argv[2], "wb");
  require(file != NULL, "a file to write");
  compile(module, argc - 3, argv + 3, file);
  fclose(file);

  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
