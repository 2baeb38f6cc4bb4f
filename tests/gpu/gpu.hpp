#pragma once

#include "runtime/cuda/driver.hpp"

#include <string>

namespace jitgemm::testing {

/// Why no test can use a GPU here; empty when one can. For SKIP_TEST.
inline std::string no_gpu_reason() {
    std::string reason;
    const DriverApi* const api = try_driver(reason);
    if (api == nullptr) return reason.substr(0, reason.find_first_of(";\n"));
    int count = 0;
    if (api->cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0) return "no GPU: the driver sees no device";
    return {};
}

}  // namespace jitgemm::testing

/// First line of a test that needs a GPU.
#define REQUIRE_GPU() \
    if (const std::string no_gpu = ::jitgemm::testing::no_gpu_reason(); !no_gpu.empty()) SKIP_TEST(no_gpu)
