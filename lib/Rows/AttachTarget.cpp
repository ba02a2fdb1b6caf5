// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttachTarget.cpp - rmsnorm-attach-target --------------------------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Rows/Passes.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_ATTACHTARGET
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct AttachTarget final : rmsnorm::impl::AttachTargetBase<AttachTarget> {
  using AttachTargetBase::AttachTargetBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<RMSNormDialect>();
  }

  void runOnOperation() override {
    TargetAttr attr =
        TargetAttr::parseSpelling(getOperation().getLoc(), target);
    if (!attr)
      return signalPassFailure();
    getOperation()->setAttr(RMSNormDialect::kTargetAttrName, attr);
  }
};
} // namespace
