// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PrintAccesses.cpp - clusters and accesses as text -----------------===//

#include "PrintProgram.h"
#include "RMSNorm/Access/Passes.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/IR/AsmState.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_PRINTACCESSES
#include "RMSNorm/Access/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;

StringRef access::getName(Access::Kind kind) {
  switch (kind) {
  case Access::Kind::load:
    return "load";
  case Access::Kind::gather:
    return "gather";
  case Access::Kind::member:
    return "member";
  case Access::Kind::assembled:
    return "assembled";
  case Access::Kind::computed:
    return "computed";
  case Access::Kind::constant:
    return "constant";
  case Access::Kind::store:
    return "store";
  case Access::Kind::accumulate:
    return "accumulate";
  case Access::Kind::escape:
    return "escape";
  }
  llvm_unreachable("expected a kind of access");
}

static StringRef getName(Relation relation) {
  switch (relation) {
  case Relation::sameColumns:
    return "same columns";
  case Relation::part:
    return "part";
  case Relation::onePerRow:
    return "one per row";
  case Relation::groups:
    return "groups";
  }
  llvm_unreachable("expected a relation");
}

namespace {
class Printer {
public:
  Printer(raw_ostream &os, func::FuncOp function, AsmState &state)
      : os(os), state(state) {
    os << "func @" << function.getName() << "\n";
  }

  void print(Cluster &cluster) {
    os << "  cluster of " << cluster.getAnchor()->getName() << ": rows (";
    llvm::interleaveComma(cluster.getRowDigits(), os, [&](unsigned digit) {
      print(cluster.getDigits()[digit].size);
    });
    os << ")\n";
    ArrayRef<Access> accesses = cluster.getAccesses();
    for (auto [number, member] : llvm::enumerate(cluster.getMembers())) {
      os << "    " << member.op->getName() << ": columns (";
      LayoutMap loops = cluster.getLoops(member);
      llvm::interleaveComma(loops.columns, os,
                            [&](const Size &size) { print(size); });
      os << ")\n";
      for (const Access &access : accesses)
        if (access.member == number)
          print(cluster, access);
    }
    for (const auto &[op, why] : cluster.getRefusals())
      os << "    not " << op->getName() << ": " << why << "\n";
  }

private:
  void print(const Size &size) {
    if (size.isStatic())
      os << size.getNumber();
    else
      os << "?";
  }

  void print(Cluster &cluster, const Access &access) {
    unsigned depth = 6;
    for (std::optional<unsigned> parent = access.parent; parent;
         parent = cluster.getAccesses()[*parent].parent)
      depth += 2;
    os.indent(depth) << access::getName(access.kind) << " ";
    if (access.kind == Access::Kind::escape)
      os << "to " << access.operand->getOwner()->getName() << "\n";
    if (access.kind == Access::Kind::escape)
      return;
    if (!access.isRead()) {
      os << access.operand->getOperandNumber() << " into ";
      access.base.printAsOperand(os, state);
      os << ", columns (";
      llvm::interleaveComma(cluster.getMap(access).columns, os,
                            [&](const Size &size) { print(size); });
      os << ")";
    } else if (isa<BlockArgument>(access.value)) {
      access.value.printAsOperand(os, state);
    } else {
      os << access.value.getDefiningOp()->getName();
      if (access.kind == Access::Kind::member)
        os << ", " << getName(cluster.getRelation(access));
    }
    os << ": " << cluster.getMap(access).map << "\n";
  }

  raw_ostream &os;
  AsmState &state;
};

struct PrintAccesses : rmsnorm::impl::PrintAccessesBase<PrintAccesses> {
  using PrintAccessesBase::PrintAccessesBase;
  void runOnOperation() override;
};
} // namespace

static std::vector<Cluster> getClusters(func::FuncOp function) {
  std::vector<Cluster> clusters;
  function.walk([&](DestinationStyleOpInterface op) {
    if (!op.hasPureTensorSemantics() || !asksForCluster(op))
      return;
    if (std::optional<Cluster> cluster = Cluster::grow(op, clusters))
      clusters.push_back(std::move(*cluster));
  });
  return clusters;
}

void PrintAccesses::runOnOperation() {
  markAllAnalysesPreserved();
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    std::vector<Cluster> clusters = getClusters(function);
    if (json) {
      printProgram(llvm::outs(), function, clusters);
      continue;
    }
    AsmState state(function);
    Printer printer(llvm::outs(), function, state);
    for (Cluster &cluster : clusters)
      printer.print(cluster);
  }
}
