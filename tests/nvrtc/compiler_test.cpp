#include "runtime/compiler/compiler.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cache/cache_key.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using testing::TemporaryFolder;
using testing::text_in;

namespace {

CompileRequest request(const std::string& body, const std::string& arch = "sm_90a") {
    const KernelText source{.name = "test_kernel", .arch = &find_arch("sm_90a"), .body = body, .entries = {}};
    CompileRequest made = compile_request(source);
    made.arch = arch;
    return made;
}

const std::string kFill =
    "extern \"C\" __global__ void fill(float* x, float value) {\n    x[threadIdx.x] = value;\n}\n";

std::shared_ptr<Compiler> compiler(const std::string& records = {}) {
    return make_nvrtc_compiler(Options::from_environment(), 0, records);
}

std::string refusal(const CompileRequest& refused) {
    try {
        static_cast<void>(compiler()->compile(refused));
    } catch (const CompileError& error) {
        return error.what();
    }
    return "compiled";
}

}  // namespace

TEST_CASE("a kernel is compiled with what ptxas reports of it") {
    const CompiledKernel kernel = compiler()->compile(request(kFill));
    CHECK(kernel.name == "test_kernel");
    CHECK(kernel.arch == "sm_90a");
    CHECK(
        kernel.binary.starts_with("\x7f"
                                  "ELF"));
    CHECK(kernel.report.registers > 0);
    CHECK(kernel.report.spill_store_bytes == 0);
    CHECK(kernel.report.warnings.empty());
    CHECK(kernel.compile_ms > 0);
    CHECK(kernel.nvrtc_version >= kOldestNvrtc);
    CHECK_FALSE(kernel.log.empty());
}

TEST_CASE("spills are seen") {
    const std::string body =
        "extern \"C\" __global__ void __launch_bounds__(1024, 2) k(float* x) {\n"
        "    float r[64];\n"
        "    #pragma unroll\n"
        "    for (int i = 0; i < 64; ++i) r[i] = x[i * 1024 + threadIdx.x];\n"
        "    __syncthreads();\n"
        "    #pragma unroll\n"
        "    for (int i = 0; i < 64; ++i) x[i * 1024 + threadIdx.x] = r[63 - i] * r[i];\n"
        "}\n";
    const PtxasReport report = compiler()->compile(request(body)).report;
    CHECK(report.registers <= 32);
    CHECK(report.spill_store_bytes > 0);
    CHECK(report.spill_load_bytes > 0);
    CHECK(report.stack_bytes > 0);
}

TEST_CASE("warnings of the front end are kept") {
    const CompiledKernel kernel =
        compiler()->compile(request("extern \"C\" __global__ void k() {\n    int unused = 3;\n}\n"));
    REQUIRE(kernel.report.warnings.size() == 1);
    CHECK_THAT(kernel.report.warnings.front(), ContainsSubstring("kernel.cu(2)"));
}

TEST_CASE("PTX for a virtual architecture") {
    CHECK_THAT(compiler()->compile(request(kFill, "compute_80")).binary, ContainsSubstring(".target sm_80"));
}

TEST_CASE("a refused kernel shows name, log, source lines and options") {
    const std::string message = refusal(request("extern \"C\" __global__ void k(float* x) {\n    x[0] = y;\n}\n"));
    CHECK_THAT(message, ContainsSubstring("refused kernel test_kernel"));
    CHECK_THAT(message, ContainsSubstring("kernel.cu(2): error: identifier \"y\" is undefined"));
    CHECK_THAT(message, ContainsSubstring(">     2 |     x[0] = y;"));
    CHECK_THAT(message, ContainsSubstring("--gpu-architecture=sm_90a --std=c++17"));
}

TEST_CASE("what ptxas refuses is quoted as PTX") {
    const std::string message =
        refusal(request("extern \"C\" __global__ void k() {\n    asm volatile(\"bogus.f32 1;\");\n}\n"));
    CHECK_THAT(message, ContainsSubstring("generated PTX, line "));
    CHECK_THAT(message, ContainsSubstring("bogus.f32"));
}

TEST_CASE("an architecture this NVRTC does not know") {
    const std::string message = refusal(request(kFill, "sm_70"));
    const std::vector<int> archs = Nvrtc::load(Options::from_environment())->supported_archs();
    if (std::find(archs.begin(), archs.end(), 70) != archs.end()) SKIP_TEST("this NVRTC still knows sm_70");
    CHECK_THAT(message, ContainsSubstring("does not know sm_70: its architectures are 75 80"));
}

TEST_CASE("the version record spares loading NVRTC and is written on the first load") {
    const TemporaryFolder folder;
    const int version = compiler(folder.path())->nvrtc_version();
    CHECK(version == Nvrtc::load(Options::from_environment())->version());
    int records = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
        ++records;
        CHECK_THAT(text_in(file.path().string()), ContainsSubstring("\"nvrtc_version\": " + std::to_string(version)));
    }
    CHECK(records == 1);
    CHECK(compiler(folder.path())->nvrtc_version() == version);
}

TEST_CASE("a real kernel goes through the cache, and a refused one is kept for reading") {
    const TemporaryFolder folder;
    const std::string root = folder / "cache";
    const std::shared_ptr<Compiler> real = compiler(root);
    KernelCache cache(root, {});
    const KernelCache::Result first = cache.get_or_compile(request(kFill), *real, "// banner\n" + kFill);
    const KernelCache::Result second = cache.get_or_compile(request(kFill), *real, "// banner\n" + kFill);
    CHECK(first.source == CacheSource::compiled);
    CHECK(second.source == CacheSource::disk);
    CHECK(first.kernel.binary == second.kernel.binary);
    CHECK(first.kernel.report == second.kernel.report);
    CHECK(cache.entries(true).front().state == "ok");
    CHECK_THROWS_WITH(cache.get_or_compile(request("int x = y;\n"), *real, {}),
                      ContainsSubstring("\nsource: " + root + "/failed/test_kernel-"));
}

TEST_CASE("two compiles of one request give the same binary") {
    CHECK(compiler()->compile(request(kFill)).binary == compiler()->compile(request(kFill)).binary);
}
