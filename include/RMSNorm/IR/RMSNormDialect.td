// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormDialect.td - the rmsnorm dialect ---------------------------===//

#ifndef RMSNORM_IR_RMSNORMDIALECT_TD
#define RMSNORM_IR_RMSNORMDIALECT_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"

def RMSNorm_Dialect : Dialect {
  let name = "rmsnorm";
  let cppNamespace = "::mlir::rmsnorm";
  let summary = "RMSNorm, forward and backward, from one op to GPU threads";
  let description = [{
    One job: root-mean-square normalisation for people who build ML compilers.
    The dialect has four levels, each in its own `.td` file:

    - *operator level* (`RMSNormOps.td`): `rmsnorm.forward` and
      `rmsnorm.backward`, destination-style ops on tensors or memrefs that live
      among ordinary `linalg`, `arith` and `tensor` IR;
    - *tile level* (`RMSNormTileOps.td`): a straight-line program on
      vectors, rows by digits of columns, that handles one tile of rows and
      knows nothing of threads;
    - *rows level* (`RMSNormRowsOps.td`): how a block works on its rows: tiles,
      walks over their columns, what is held, what is copied ahead;
    - *thread level* (`RMSNormThreadOps.td`): the closed list of ops that
      `rmsnorm-distribute` emits next to `arith`, `math`, `vector`, `scf` and
      `gpu`. Each has a lowering to NVVM, to ROCDL and to the simulator.

    Adding a residual, gating, quantising are not operands of the ops: they are
    ordinary IR around them, and fusing them is the job of the passes. Not
    ours: LayerNorm, attention, a general GPU compiler.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect",
    "::mlir::tensor::TensorDialect",
  ];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();

    // The discardable attributes. A table in Dialect.cpp says on which op and of
    // which type each may be; any other use is an error.

    /// Module attribute naming the target the memref half compiles for.
    static constexpr ::llvm::StringLiteral kTargetAttrName = "rmsnorm.target";
    /// Unit attribute of a linalg op whose last loop is along the rows: it is
    /// to become a kernel with what is row-wise around it, as a norm is.
    /// The user's or the front end's wish, see rmsnorm-tile-clusters.
    static constexpr ::llvm::StringLiteral kRowWiseAttrName =
        "rmsnorm.row_wise";
    /// The name of the op that this one was made of, a string: of a
    /// linalg.generic that was an elementwise op of arith or math, of
    /// insertions and fills that were a tensor.concat or tensor.pad, and of an
    /// rmsnorm.scatter that was a tensor.scatter; see
    /// rmsnorm-restore-elementwise.
    static constexpr ::llvm::StringLiteral kElementwiseAttrName =
        "rmsnorm.elementwise";
    /// Argument attributes of an entry function; see rmsnorm-bind-arguments.
    static constexpr ::llvm::StringLiteral kNameAttrName = "rmsnorm.name";
    static constexpr ::llvm::StringLiteral kRoleAttrName = "rmsnorm.role";
    static constexpr ::llvm::StringLiteral kDimsAttrName = "rmsnorm.dims";
    static constexpr ::llvm::StringLiteral kBoundsAttrName = "rmsnorm.bounds";
    /// Unit attribute beside rmsnorm.bounds: no two elements are the same, as
    /// rows are stored where they say.
    static constexpr ::llvm::StringLiteral kDistinctAttrName =
        "rmsnorm.distinct";
    /// Integer set attribute of one: conditions on the sizes in rmsnorm.dims.
    static constexpr ::llvm::StringLiteral kSizesAttrName = "rmsnorm.sizes";
    /// Integer attribute of a result of an entry function: the argument that it
    /// is computed into.
    static constexpr ::llvm::StringLiteral kArgumentAttrName =
        "rmsnorm.argument";
    /// Unit attribute of an argument that no earlier work on the stream writes,
    /// such as a weight in inference: a kernel may read it before the ones
    /// before it have ended. The user's promise; inputs only.
    static constexpr ::llvm::StringLiteral kConstantAttrName =
        "rmsnorm.constant";
    /// Unit attribute of a gpu.launch_func whose kernel executes
    /// rmsnorm.grid_wait: it may be launched so that it starts before those
    /// before it have ended.
    static constexpr ::llvm::StringLiteral kDependentLaunchAttrName =
        "rmsnorm.programmatic_dependent_launch";
    /// Positive integer attribute of a gpu.launch_func: the blocks that are to
    /// share a multiprocessor at the same time, which the runtime has L1 leave
    /// workgroup memory for.
    static constexpr ::llvm::StringLiteral kBlocksPerMultiprocessorAttrName =
        "rmsnorm.blocks_per_multiprocessor";
    /// Positive integer attribute of a kernel: the blocks that a
    /// multiprocessor must have registers for at the same time. Absent: as many
    /// as the kernel's registers leave room for.
    static constexpr ::llvm::StringLiteral kMinBlocksAttrName =
        "rmsnorm.min_blocks";
    /// Integer attribute of a global_load, global_store or async_copy while it
    /// is lowered for the simulator: the number of the kernel's argument that
    /// the base pointer comes from, needed after that has become a load.
    static constexpr ::llvm::StringLiteral kSimArgumentAttrName =
        "rmsnorm.sim_argument";
  }];
}

class RMSNorm_Op<string mnemonic, list<Trait> traits = []>
    : Op<RMSNorm_Dialect, mnemonic, traits>;

#endif // RMSNORM_IR_RMSNORMDIALECT_TD
