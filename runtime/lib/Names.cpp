//===- Names.cpp - data types, formats and backends by name ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Module.h"

using namespace rmsnorm::runtime;

namespace {
struct DataTypeEntry {
  rmsn::DataType type;
  const char *name;
  DLDataType dlpack;
};
} // namespace

/// In the order of the format's numbers.
static constexpr DataTypeEntry dataTypes[] = {
    {rmsn::DataType::F16, "f16", {kDLFloat, 16, 1}},
    {rmsn::DataType::BF16, "bf16", {kDLBfloat, 16, 1}},
    {rmsn::DataType::F32, "f32", {kDLFloat, 32, 1}},
    {rmsn::DataType::F64, "f64", {kDLFloat, 64, 1}},
    {rmsn::DataType::F8E4M3FN, "f8e4m3fn", {RMSNORM_DL_FLOAT8_E4M3FN, 8, 1}},
    {rmsn::DataType::F8E5M2, "f8e5m2", {RMSNORM_DL_FLOAT8_E5M2, 8, 1}},
    {rmsn::DataType::I8, "i8", {kDLInt, 8, 1}},
    {rmsn::DataType::I16, "i16", {kDLInt, 16, 1}},
    {rmsn::DataType::I32, "i32", {kDLInt, 32, 1}},
    {rmsn::DataType::I64, "i64", {kDLInt, 64, 1}},
    {rmsn::DataType::U8, "u8", {kDLUInt, 8, 1}},
    {rmsn::DataType::F8E4M3FNUZ,
     "f8e4m3fnuz",
     {RMSNORM_DL_FLOAT8_E4M3FNUZ, 8, 1}},
    {rmsn::DataType::Bool, "bool", {RMSNORM_DL_BOOL, 8, 1}},
    {rmsn::DataType::F8E8M0FNU, "f8e8m0fnu", {RMSNORM_DL_FLOAT8_E8M0FNU, 8, 1}},
    {rmsn::DataType::F4E2M1FN, "f4e2m1fn", {RMSNORM_DL_FLOAT4_E2M1FN, 4, 1}},
};

static constexpr bool isInOrder() {
  for (unsigned i = 0; i <= unsigned(rmsn::DataType::MAX); ++i)
    if (dataTypes[i].type != rmsn::DataType(i))
      return false;
  return true;
}
static_assert(isInOrder());

DLDataType rmsnorm::runtime::dlDataType(rmsn::DataType type) {
  return dataTypes[unsigned(type)].dlpack;
}

const char *rmsnorm::runtime::dataTypeName(rmsn::DataType type) {
  return dataTypes[unsigned(type)].name;
}

std::string rmsnorm::runtime::dlDataTypeName(DLDataType type) {
  // By DLPack's numbers, those of any width.
  static constexpr const char *kinds[] = {"i",     "u",  "f",
                                          nullptr, "bf", "complex"};
  std::string name = formatted("code %u of %u bits", type.code, type.bits);
  if (type.code < std::size(kinds)) {
    if (kinds[type.code])
      name = kinds[type.code] + std::to_string(type.bits);
  } else {
    for (const DataTypeEntry &entry : dataTypes)
      if (entry.dlpack.code == type.code)
        name = entry.name;
  }
  if (type.lanes != 1)
    name += formatted(" x %u lanes", type.lanes);
  return name;
}

const char *rmsnorm::runtime::binaryFormatName(rmsn::BinaryFormat format) {
  static constexpr const char *names[] = {"ptx", "cubin", "hsaco", "elf"};
  return names[unsigned(format)];
}

const char *rmsnorm::runtime::backendName(rmsn::Backend backend) {
  static constexpr const char *names[] = {"cuda", "hip", "sim", "oracle"};
  return names[unsigned(backend)];
}
