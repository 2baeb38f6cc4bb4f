#pragma once

#include "runtime/compiler/compiler.hpp"

#include <atomic>
#include <functional>

namespace jitgemm::testing {

/// A compiler that only counts: its binary is the source's text.
class FakeCompiler : public Compiler {
public:
    [[nodiscard]] int nvrtc_version() override { return 130; }
    [[nodiscard]] std::string nvrtc_build() override { return {}; }
    [[nodiscard]] CompiledKernel compile(const CompileRequest& request) override {
        ++compiles;
        if (on_compile) on_compile(request);
        CompiledKernel kernel;
        kernel.name = request.name;
        kernel.arch = request.arch;
        kernel.binary = request.body;
        kernel.report = report;
        kernel.nvrtc_version = 130;
        return kernel;
    }

    std::atomic<int> compiles = 0;
    PtxasReport report;
    std::function<void(const CompileRequest&)> on_compile;
};

}  // namespace jitgemm::testing
