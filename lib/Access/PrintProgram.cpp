// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PrintProgram.cpp - ops and clusters for a checker -----------------===//

#include "PrintProgram.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
namespace json = llvm::json;

template <typename T> static std::string toText(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

template <typename Range, typename Function>
static json::Array toArray(Range &&range, Function function) {
  json::Array array;
  for (auto &&element : range)
    array.push_back(function(element));
  return array;
}

namespace {
/// Writes ops without regard to their meaning: values and ops by number.
class Program {
public:
  json::Value print(Operation &op);
  json::Value print(const Cluster &cluster);

private:
  unsigned getNumber(Value value) {
    return values.try_emplace(value, values.size()).first->second;
  }
  json::Value print(Attribute attribute);
  json::Value printTyped(Value value);
  json::Value print(OpFoldResult size);
  json::Value print(const DimSource &source) {
    return json::Object{{"value", getNumber(source.value)},
                        {"dim", source.dim}};
  }
  json::Value print(const Cluster &cluster, const Size &size) {
    return json::Object{
        {"number", size.getNumber()},
        {"sources", toArray(size.getSources(), [&](unsigned source) {
           return print(cluster.getDigits().getSizes().getSource(source));
         })}};
  }
  json::Value print(const Cluster &cluster, const LayoutMap &map) {
    return json::Object{
        {"map", toText(map.map)},
        {"columns",
         toArray(map.columns,
                 [&](const Size &size) { return print(cluster, size); })},
        {"sizes", toArray(map.sizes, [&](const DimSource &source) {
           return print(source);
         })}};
  }
  json::Value print(const Cluster &cluster, const Access &access);

  DenseMap<Value, unsigned> values;
  DenseMap<Operation *, unsigned> ops;
};
} // namespace

json::Value Program::print(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().trySExtValue().value_or(0);
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute))
    return json::Array(array.asArrayRef());
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return toArray(array, [&](Attribute element) { return print(element); });
  return toText(attribute);
}

json::Value Program::printTyped(Value value) {
  json::Object object{{"id", getNumber(value)},
                      {"type", toText(value.getType())}};
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    object["shape"] = toArray(type.getShape(), [](int64_t size) {
      return ShapedType::isDynamic(size) ? -1 : size;
    });
  return object;
}

json::Value Program::print(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return *constant;
  return json::Object{{"value", getNumber(cast<Value>(size))}};
}

json::Value Program::print(Operation &op) {
  const unsigned number = ops.try_emplace(&op, ops.size()).first->second;
  json::Object attributes;
  for (NamedAttribute attribute : op.getAttrDictionary())
    attributes[attribute.getName().getValue()] = print(attribute.getValue());
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    attributes["maps"] = toArray(linalgOp.getIndexingMapsArray(),
                                 [](AffineMap map) { return toText(map); });
    attributes["inputs"] = linalgOp.getNumDpsInputs();
  }
  if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op)) {
    auto printAll = [&](ArrayRef<OpFoldResult> sizes) {
      return toArray(sizes, [&](OpFoldResult size) { return print(size); });
    };
    attributes["offsets"] = printAll(slice.getMixedOffsets());
    attributes["sizes"] = printAll(slice.getMixedSizes());
    attributes["strides"] = printAll(slice.getMixedStrides());
  }
  return json::Object{
      {"op", number},
      {"name", op.getName().getStringRef()},
      {"in", toArray(op.getOperands(),
                     [&](Value value) { return getNumber(value); })},
      {"out", toArray(op.getResults(),
                      [&](Value value) { return printTyped(value); })},
      {"attributes", std::move(attributes)},
      {"regions", toArray(op.getRegions(), [&](Region &region) {
         return toArray(region, [&](Block &block) -> json::Value {
           json::Array arguments =
               toArray(block.getArguments(),
                       [&](Value value) { return printTyped(value); });
           return json::Object{{"arguments", std::move(arguments)},
                               {"ops", toArray(block, [&](Operation &op) {
                                  return print(op);
                                })}};
         });
       })}};
}

json::Value Program::print(const Cluster &cluster, const Access &access) {
  json::Object object{{"kind", getName(access.kind)},
                      {"member", access.member},
                      {"value", getNumber(access.value)}};
  if (access.kind != Access::Kind::escape)
    object["map"] = print(cluster, cluster.getMap(access));
  if (access.operand) {
    object["user"] = ops.lookup(access.operand->getOwner());
    object["operand"] = access.operand->getOperandNumber();
  }
  if (access.extract) {
    object["extract"] = ops.lookup(access.extract);
    object["indices"] =
        toArray(access.indices, [&](Value value) { return getNumber(value); });
  }
  if (access.parent)
    object["parent"] = *access.parent;
  if (access.kind == Access::Kind::computed)
    object["loops"] = print(cluster, cluster.getComputedLoops(access));
  if (!access.whole.empty())
    object["whole"] = print(cluster, cluster.getOperandMap(access));
  if (!access.isRead()) {
    object["source"] = getNumber(access.source);
    object["from"] = print(cluster, cluster.getSourceMap(access));
  }
  return object;
}

json::Value Program::print(const Cluster &cluster) {
  return json::Object{
      {"anchor", ops.lookup(cluster.getAnchor())},
      {"rows", toArray(cluster.getRowDims(),
                       [&](const auto &dim) {
                         return print(DimSource{ShapedType::kDynamic, dim.first,
                                                dim.second});
                       })},
      {"members", toArray(cluster.getMembers(),
                          [&](const Member &member) {
                            return json::Object{
                                {"op", ops.lookup(member.op)},
                                {"loops",
                                 print(cluster, cluster.getLoops(member))}};
                          })},
      {"accesses",
       toArray(cluster.getAccesses(),
               [&](const Access &access) { return print(cluster, access); })},
      {"refusals", toArray(cluster.getRefusals(), [&](const auto &entry) {
         return (entry.first->getName().getStringRef() + " " + entry.second)
             .str();
       })}};
}

void access::printProgram(raw_ostream &os, func::FuncOp function,
                          ArrayRef<Cluster> clusters) {
  Program program;
  json::Object object{{"name", function.getName()},
                      {"function", program.print(*function.getOperation())}};
  object["clusters"] = toArray(
      clusters, [&](const Cluster &cluster) { return program.print(cluster); });
  os << json::Value(std::move(object)) << "\n";
}
