#pragma once

#include "runtime/cuda/cuda_context.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/support/dynamic_library.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// \file Just enough of the driver to run a PTX text on device 0. All throw CudaError.

namespace jitgemm::testing {

/// Device 0 with its primary context current.
struct Gpu {
    Gpu() : context(CudaContext::primary(0)), scope(*context) {
        int major = 0, minor = 0;
        JITGEMM_CHECK(driver().cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
        JITGEMM_CHECK(driver().cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
        compute_capability = 10 * major + minor;
    }
    std::shared_ptr<const CudaContext> context;
    ScopedContext scope;
    int compute_capability = 0;
};

/// Device memory that holds a pattern until it is written.
class Words {
public:
    explicit Words(std::size_t count) : bytes_(std::max<std::size_t>(count, 1) * sizeof(std::uint32_t)) {
        JITGEMM_CHECK(driver().cuMemAlloc(&pointer_, bytes_));
        JITGEMM_CHECK(driver().cuMemsetD8(pointer_, kUntouched, bytes_));
    }
    explicit Words(const std::vector<std::uint32_t>& words) : Words(words.size()) {
        JITGEMM_CHECK(driver().cuMemcpyHtoD(pointer_, words.data(), bytes_));
    }
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;
    ~Words() { driver().cuMemFree(pointer_); }

    /// As words of another size, too.
    template <typename Word = std::uint32_t>
    [[nodiscard]] std::vector<Word> read() const {
        std::vector<Word> words(bytes_ / sizeof(Word));
        JITGEMM_CHECK(driver().cuMemcpyDtoH(words.data(), pointer_, bytes_));
        return words;
    }
    [[nodiscard]] CUdeviceptr pointer() const { return pointer_; }

private:
    static constexpr unsigned char kUntouched = 0xa5;

    CUdeviceptr pointer_ = 0;
    std::size_t bytes_;
};

/// Whether the driver's assembler may rewrite instructions, or takes them as they are written.
enum class PtxAssembly : std::uint8_t { optimised, literal };

/// PTX, assembled by the driver.
class PtxModule {
public:
    explicit PtxModule(const std::string& ptx, PtxAssembly assembly = PtxAssembly::optimised) {
        if (assembly == PtxAssembly::optimised) {
            JITGEMM_CHECK(driver().cuModuleLoadData(&module_, ptx.c_str()));
        } else {
            load_literally(ptx);
        }
    }
    PtxModule(const PtxModule&) = delete;
    PtxModule& operator=(const PtxModule&) = delete;
    ~PtxModule() { driver().cuModuleUnload(module_); }

    template <typename... Arguments>
    void run(const std::string& entry, unsigned blocks, unsigned threads, Arguments... arguments) const {
        CUfunction function = nullptr;
        JITGEMM_CHECK(driver().cuModuleGetFunction(&function, module_, entry.c_str()));
        std::array<void*, sizeof...(Arguments)> pointers{&arguments...};
        JITGEMM_CHECK(
            driver().cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, pointers.data(), nullptr));
        JITGEMM_CHECK(driver().cuCtxSynchronize());
    }

private:
    /// At optimisation level 0. The library itself has no need of options, and so not of this entry point.
    void load_literally(const std::string& ptx) {
        const DriverApi& api = driver();
        const auto load = reinterpret_cast<decltype(&::cuModuleLoadDataEx)>(api.libcuda->symbol("cuModuleLoadDataEx"));
        std::array<CUjit_option, 1> options{CU_JIT_OPTIMIZATION_LEVEL};
        std::array<void*, 1> values{nullptr};  // a pointer's bits are the number: 0
        JITGEMM_CHECK(load(&module_, ptx.c_str(), 1, options.data(), values.data()));
    }

    CUmodule module_ = nullptr;
};

}  // namespace jitgemm::testing
