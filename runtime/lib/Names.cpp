//===- Names.cpp - data types, formats and backends by name ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Module.h"

using namespace rmsnorm::runtime;

DLDataType rmsnorm::runtime::dlDataType(rmsn::DataType type) {
  switch (type) {
  case rmsn::DataType::F16:
    return {kDLFloat, 16, 1};
  case rmsn::DataType::BF16:
    return {kDLBfloat, 16, 1};
  case rmsn::DataType::F32:
    return {kDLFloat, 32, 1};
  case rmsn::DataType::F64:
    return {kDLFloat, 64, 1};
  case rmsn::DataType::F8E4M3FN:
    return {RMSNORM_DL_FLOAT8_E4M3FN, 8, 1};
  case rmsn::DataType::F8E5M2:
    return {RMSNORM_DL_FLOAT8_E5M2, 8, 1};
  case rmsn::DataType::I8:
    return {kDLInt, 8, 1};
  case rmsn::DataType::I16:
    return {kDLInt, 16, 1};
  case rmsn::DataType::I32:
    return {kDLInt, 32, 1};
  case rmsn::DataType::I64:
    return {kDLInt, 64, 1};
  case rmsn::DataType::U8:
    return {kDLUInt, 8, 1};
  case rmsn::DataType::F8E4M3FNUZ:
    return {RMSNORM_DL_FLOAT8_E4M3FNUZ, 8, 1};
  case rmsn::DataType::Bool:
    return {RMSNORM_DL_BOOL, 8, 1};
  case rmsn::DataType::F8E8M0FNU:
    return {RMSNORM_DL_FLOAT8_E8M0FNU, 8, 1};
  case rmsn::DataType::F4E2M1FN:
    return {RMSNORM_DL_FLOAT4_E2M1FN, 4, 1};
  }
  return {kDLUInt, 8, 1}; // not reached: modules are checked
}

std::string rmsnorm::runtime::dlDataTypeName(DLDataType type) {
  const char *kind = nullptr;
  switch (int(type.code)) {
  case kDLInt:
    kind = "i";
    break;
  case kDLUInt:
    kind = "u";
    break;
  case kDLFloat:
    kind = "f";
    break;
  case kDLBfloat:
    kind = "bf";
    break;
  case RMSNORM_DL_COMPLEX:
    kind = "complex";
    break;
  case RMSNORM_DL_FLOAT8_E4M3FN:
    kind = "f8e4m3fn";
    break;
  case RMSNORM_DL_FLOAT8_E4M3FNUZ:
    kind = "f8e4m3fnuz";
    break;
  case RMSNORM_DL_FLOAT8_E5M2:
    kind = "f8e5m2";
    break;
  case RMSNORM_DL_FLOAT8_E8M0FNU:
    kind = "f8e8m0fnu";
    break;
  case RMSNORM_DL_FLOAT4_E2M1FN:
    kind = "f4e2m1fn";
    break;
  case RMSNORM_DL_BOOL:
    kind = "bool";
    break;
  }
  std::string name;
  if (!kind)
    name = formatted("code %u of %u bits", type.code, type.bits);
  else if (type.code >= RMSNORM_DL_BOOL)
    name = kind;
  else
    name = kind + std::to_string(type.bits);
  if (type.lanes != 1)
    name += formatted(" x %u lanes", type.lanes);
  return name;
}

const char *rmsnorm::runtime::dataTypeName(rmsn::DataType type) {
  switch (type) {
  case rmsn::DataType::F16:
    return "f16";
  case rmsn::DataType::BF16:
    return "bf16";
  case rmsn::DataType::F32:
    return "f32";
  case rmsn::DataType::F64:
    return "f64";
  case rmsn::DataType::F8E4M3FN:
    return "f8e4m3fn";
  case rmsn::DataType::F8E5M2:
    return "f8e5m2";
  case rmsn::DataType::I8:
    return "i8";
  case rmsn::DataType::I16:
    return "i16";
  case rmsn::DataType::I32:
    return "i32";
  case rmsn::DataType::I64:
    return "i64";
  case rmsn::DataType::U8:
    return "u8";
  case rmsn::DataType::F8E4M3FNUZ:
    return "f8e4m3fnuz";
  case rmsn::DataType::Bool:
    return "bool";
  case rmsn::DataType::F8E8M0FNU:
    return "f8e8m0fnu";
  case rmsn::DataType::F4E2M1FN:
    return "f4e2m1fn";
  }
  return "?";
}

const char *rmsnorm::runtime::binaryFormatName(rmsn::BinaryFormat format) {
  switch (format) {
  case rmsn::BinaryFormat::Ptx:
    return "ptx";
  case rmsn::BinaryFormat::Cubin:
    return "cubin";
  case rmsn::BinaryFormat::Hsaco:
    return "hsaco";
  case rmsn::BinaryFormat::Elf:
    return "elf";
  }
  return "?";
}

const char *rmsnorm::runtime::backendName(rmsn::Backend backend) {
  switch (backend) {
  case rmsn::Backend::Cuda:
    return "cuda";
  case rmsn::Backend::Hip:
    return "hip";
  case rmsn::Backend::Sim:
    return "sim";
  case rmsn::Backend::Oracle:
    return "oracle";
  }
  return "?";
}
