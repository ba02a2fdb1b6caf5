//===- DriverAbsenceTest.cpp - no driver, no device -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rmsnorm/device.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace {

class DriverAbsenceTest : public testing::Test {
protected:
  void SetUp() override { rmsnorm_device_options_init(&options); }
  void TearDown() override {
    rmsnorm_device_close(device);
    unsetenv("RMSNORM_CUDA_LIBRARY");
    unsetenv("RMSNORM_HIP_LIBRARY");
  }

  rmsnorm_device_options options;
  rmsnorm_device *device = nullptr;
};

TEST_F(DriverAbsenceTest, CudaNamesEveryPathTried) {
  rmsnorm_status status = rmsnorm_device_open(RMSNORM_CUDA, nullptr, &device);
  if (status != RMSNORM_NO_DRIVER)
    GTEST_SKIP() << "this machine has a CUDA driver";
  std::string message = rmsnorm_last_error();
  EXPECT_EQ(message.rfind("cannot load the CUDA driver; tried:\n"
                          "  libcuda.so.1: libcuda.so.1: cannot open shared "
                          "object file: No such file or directory\n"
                          "  libcuda.so: ",
                          0),
            0u)
      << message;
}

TEST_F(DriverAbsenceTest, HipNamesEveryPathTried) {
  rmsnorm_status status = rmsnorm_device_open(RMSNORM_HIP, nullptr, &device);
  if (status != RMSNORM_NO_DRIVER)
    GTEST_SKIP() << "this machine has a HIP driver";
  std::string message = rmsnorm_last_error();
  for (const char *path : {"cannot load the HIP driver; tried:",
                           "\n  libamdhip64.so.6: ", "\n  libamdhip64.so.7: ",
                           "\n  libamdhip64.so.5: ", "\n  libamdhip64.so: "})
    EXPECT_NE(message.find(path), std::string::npos) << message;
}

TEST_F(DriverAbsenceTest, OptionAndEnvironmentReplaceTheUsualPaths) {
  options.driver_library = "/nowhere/libcuda.so.1";
  EXPECT_EQ(rmsnorm_device_open(RMSNORM_CUDA, &options, &device),
            RMSNORM_NO_DRIVER);
  EXPECT_STREQ(rmsnorm_last_error(),
               "cannot load the CUDA driver; tried:\n  /nowhere/libcuda.so.1: "
               "/nowhere/libcuda.so.1: cannot open shared object file: No such "
               "file or directory");
  setenv("RMSNORM_HIP_LIBRARY", "/nowhere/hip.so", 1);
  EXPECT_EQ(rmsnorm_device_open(RMSNORM_HIP, nullptr, &device),
            RMSNORM_NO_DRIVER);
  EXPECT_STREQ(rmsnorm_last_error(),
               "cannot load the HIP driver; tried:\n  /nowhere/hip.so: "
               "/nowhere/hip.so: cannot open shared object file: No such file "
               "or directory");
}

TEST_F(DriverAbsenceTest, LibraryThatIsNoDriver) {
  options.driver_library = "libm.so.6";
  EXPECT_EQ(rmsnorm_device_open(RMSNORM_CUDA, &options, &device),
            RMSNORM_NO_DRIVER);
  EXPECT_EQ(std::string(rmsnorm_last_error())
                .rfind("the CUDA driver libm.so.6 lacks functions we need: "
                       "cuGetErrorName, cuGetErrorString, cuDeviceGet",
                       0),
            0u)
      << rmsnorm_last_error();
}

TEST_F(DriverAbsenceTest, WrongOptions) {
  options.ordinal = -1;
  EXPECT_EQ(rmsnorm_device_open(RMSNORM_CUDA, &options, &device),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "expected a device ordinal >= 0, got -1");
  options.ordinal = 0;
  options.target = "gfx942";
  EXPECT_EQ(rmsnorm_device_open(RMSNORM_CUDA, &options, &device),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "expected a target of the device's kind (sm_*, gfx*, sim, sim:* "
               "or oracle), got 'gfx942'");
  EXPECT_EQ(rmsnorm_device_open(rmsnorm_backend(9), nullptr, &device),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "expected a backend of 0..3, got 9");
  // Before the target, which may be that of any.
  options.target = "sm_90";
  EXPECT_EQ(rmsnorm_device_open(rmsnorm_backend(-1), &options, &device),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "expected a backend of 0..3, got -1");
}

} // namespace
