#pragma once

#include "jitgemm/error.hpp"
#include "runtime/compiler/compiler.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>

namespace jitgemm::testing {

/// "Compiles" to a text made of the request; counts, also across processes, what it is asked for.
class CountingCompiler : public Compiler {
public:
    explicit CountingCompiler(int version = 130) : version_(version) {}

    [[nodiscard]] int nvrtc_version() override { return version_; }
    [[nodiscard]] std::string nvrtc_build() override { return build_; }
    [[nodiscard]] int newest_major() const override { return newest_major_; }

    [[nodiscard]] CompiledKernel compile(const CompileRequest& request) override {
        ++compiles_;
        if (!tally_file.empty()) add_tally();
        if (before_result) before_result();
        if (version_ == 0) throw CompileError("found no NVRTC", {});
        return {.name = request.name,
                .arch = request.arch,
                .binary = binary_of(request),
                .log = "ptxas info    : Used 40 registers",
                .report = {.registers = 40,
                           .spill_store_bytes = 8,
                           .spill_load_bytes = 4,
                           .stack_bytes = 16,
                           .static_shared_bytes = 32,
                           .warnings = {"a warning"}},
                .compile_ms = 12.5,
                .nvrtc_version = version_,
                .nvrtc_build = build_};
    }

    static std::string binary_of(const CompileRequest& request) {
        return std::string(
                   "\x7f"
                   "ELF\0",
                   5) +
               request.arch + request.body + std::string(1000, 'b');
    }
    [[nodiscard]] int compiles() const { return compiles_; }
    void set_version(int version) { version_ = version; }
    void set_build(const std::string& build) { build_ = build; }
    void set_newest_major(int major) { newest_major_ = major; }

    std::string tally_file;  ///< gets one byte per compile
    std::function<void()> before_result;

private:
    void add_tally() const {
        const int file = ::open(tally_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        static_cast<void>(!::write(file, "x", 1));
        ::close(file);
    }

    int version_;
    std::string build_;
    int newest_major_ = 0;
    std::atomic<int> compiles_ = 0;
};

inline CompileRequest request_of(const std::string& name,
                                 const std::string& body = "extern \"C\" __global__ void k() {}") {
    return {.name = name, .body = body, .arch = "sm_90a", .options = {"--std=c++17", "--ptxas-options=-v"}};
}

}  // namespace jitgemm::testing
