/*===- rmsnorm/dlpack.h - the DLPack tensor struct ------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * DLTensor as the DLPack standard lays it out (unchanged since 0.2). Where the
 * program has dlpack.h, that one is used; otherwise the few types we need are
 * declared here, so that the runtime can be used without it.
 */
#ifndef RMSNORM_DLPACK_H
#define RMSNORM_DLPACK_H

#include <stdint.h>

#if defined(__has_include) && !defined(DLPACK_DLPACK_H_)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif

#ifndef DLPACK_DLPACK_H_

/* As wide as its field, so that kinds we have no name for can be read. */
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLROCM = 10,
  kDLCUDAManaged = 13
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4
} DLDataTypeCode;

typedef struct {
  uint8_t code; /* DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;   /* ndim sizes */
  int64_t *strides; /* ndim strides in elements; NULL: packed row-major */
  uint64_t byte_offset;
} DLTensor;

#endif /* DLPACK_DLPACK_H_ */

/* Codes of DLPack 1.1 that an older dlpack.h lacks. */
enum {
  RMSNORM_DL_COMPLEX = 5,
  RMSNORM_DL_BOOL = 6,
  RMSNORM_DL_FLOAT8_E4M3FN = 10,
  RMSNORM_DL_FLOAT8_E4M3FNUZ = 11,
  RMSNORM_DL_FLOAT8_E5M2 = 12,
  RMSNORM_DL_FLOAT8_E8M0FNU = 14,
  RMSNORM_DL_FLOAT4_E2M1FN = 17 /* 4 bits: sizes and strides in numbers */
};

#endif /* RMSNORM_DLPACK_H */
