#include "generator/base/arch.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstdlib>

using namespace jitgemm;

namespace {

constexpr const char* kSource = "extern \"C\" __global__ void fill(float* x) { x[threadIdx.x] = 1.0f; }\n";

bool is_elf(const std::string& code) {
    return code.size() > 4 && code.compare(0, 4,
                                           "\x7f"
                                           "ELF") == 0;
}

NvrtcOutput compile_for(Nvrtc& nvrtc, std::string_view arch) {
    return nvrtc.compile(kSource, "fill.cu", {"--gpu-architecture=" + std::string(arch)});
}

/// Each row's first_nvrtc against what this NVRTC lists and compiles.
void check_table_against(Nvrtc& nvrtc) {
    const std::vector<int> listed = nvrtc.supported_archs();
    for (const Arch& arch : arch_table()) {
        INFO("NVRTC " << nvrtc.version() << " at " << nvrtc.path() << ", " << arch.name);
        const bool expected = arch.first_nvrtc <= nvrtc.version();
        CHECK((std::find(listed.begin(), listed.end(), arch.compute_capability) != listed.end()) == expected);
        const NvrtcOutput output = compile_for(nvrtc, arch.name);
        INFO(output.log);
        CHECK(output.ok == expected);
        if (expected) CHECK(is_elf(output.code));
    }
}

}  // namespace

TEST_CASE("the installed NVRTC targets exactly the architectures the table says it does") {
    check_table_against(*Nvrtc::load(Options::from_environment()));
}

TEST_CASE("NVRTC 12.4 targets exactly the architectures the table says it does") {
    const char* library = std::getenv("JITGEMM_TEST_NVRTC_12");
    if (library == nullptr)
        SKIP_TEST("JITGEMM_TEST_NVRTC_12 names no libnvrtc.so.12 (wheel nvidia-cuda-nvrtc-cu12==12.4.127)");
    Options options;
    options.nvrtc_library = library;
    const auto nvrtc = Nvrtc::load(options);
    CHECK(nvrtc->version() / 10 == 12);
    check_table_against(*nvrtc);
}
