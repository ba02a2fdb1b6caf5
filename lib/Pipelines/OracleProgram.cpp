// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OracleProgram.cpp - the definition as a program of a module -------===//

#include "OracleProgram.h"
#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/Module/ModuleWriter.h"
#include "RMSNorm/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::rmsnorm;

FailureOr<CompiledOracle>
rmsnorm::compileOracle(const Compilation &compilation) {
  CompiledOracle oracle;
  oracle.times.entry = "(all)";
  oracle.times.target = kOracleTarget.str();
  Milliseconds time;
  ModuleOp source = compilation.source;
  oracle.module = cast<ModuleOp>(source->clone());
  WatchedPasses passes(source.getContext());
  buildToOracle(passes.manager);
  // As for variants: norm-opt verifies between passes.
  passes.manager.enableVerifier(false);
  if (failed(compilation.run(passes, *oracle.module, oracle.getPiece(),
                             Stage::Finalized)))
    return failure();
  oracle.times.passes = time.get();
  return oracle;
}

LogicalResult rmsnorm::addOracle(const Compilation &compilation,
                                 ModuleWriter &writer) {
  FailureOr<CompiledOracle> oracle = compileOracle(compilation);
  if (failed(oracle))
    return failure();
  FailureOr<Blob> blob = serializeHost(
      *oracle->module, compilation.getSerializeOptions(oracle->times));
  if (failed(blob))
    return failure();
  if (failed(compilation.showCode(oracle->getPiece(), *oracle->module)))
    return failure();
  unsigned image = writer.addImage(
      TargetAttr(),
      {{BinaryKind::HostELF, std::string(blob->begin(), blob->end())}});
  for (func::FuncOp entry : compilation.entries)
    writer.addOracle(entry.getName(), image, "oracle_" + entry.getName().str());
  for (const auto &[entry, name] : compilation.candidates)
    writer.addOracle(name, image, "oracle_" + entry);
  compilation.record(std::move(oracle->times));
  return success();
}
