#include "runtime/context/context_state.hpp"
#include "runtime/export/export.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>

using namespace jitgemm;
using jitgemm::testing::FakeDevice;
using jitgemm::testing::TemporaryFolder;
using jitgemm::testing::text_in;

namespace {

const std::string kElf = std::string("\x7f") + "ELF";

// Everything but the GPU is real: generator, NVRTC, cache.
struct Bench {
    explicit Bench(const Options& options)
        : context(options, device, make_nvrtc_compiler(options, 0, options.cache_directory)) {}

    std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
    ContextState context;
};

Options options_in(const TemporaryFolder& folder, const std::string& parameters = {}) {
    Options options = Options::from_environment();
    options.cache_directory = folder.path();
    options.readonly_cache_directory.clear();
    options.parameters = parameters;
    return options;
}

// Size of the struct a kernel takes, as the compiler laid it out: "gemm_param_0[88]" in PTX.
std::size_t parameter_bytes(const std::string& ptx, const std::string& function) {
    const std::string label = function + "_param_0[";
    const std::size_t at = ptx.find(label);
    REQUIRE(at != std::string::npos);
    return std::strtoull(ptx.c_str() + at + label.size(), nullptr, 10);
}

}  // namespace

TEST_CASE("a kernel is compiled, then found on disk, then in memory") {
    const TemporaryFolder folder;
    const GemmSpec spec{.m = 1000, .n = 777, .k = 999};
    {
        Bench bench(options_in(folder));
        const GemmKernel kernel = bench.context.kernel(spec);
        CHECK(kernel.info().cache == CacheSource::compiled);
        CHECK(kernel.info().registers > 0);
        CHECK(kernel.info().compile_ms > 0);
        CHECK(text_in(state_of(kernel).kernel->cache_directory + "/kernel.cu") == kernel.source());
        CHECK(text_in(state_of(kernel).kernel->cache_directory + "/kernel.cubin").starts_with(kElf));
    }
    Bench bench(options_in(folder));
    CHECK(bench.context.kernel(spec).info().cache == CacheSource::disk);
    GemmSpec other = spec;
    other.m = 1001;
    bench.context.selection.kernel = bench.context.kernel(spec).info().name;
    CHECK(bench.context.kernel(other).info().cache == CacheSource::memory);
}

TEST_CASE("launches pack the struct that the compiler laid out") {
    const TemporaryFolder folder;
    const GemmSpec plain{.m = 256, .n = 256, .k = 4096};
    GemmSpec with_c = plain;
    with_c.c = DataType::f32;
    with_c.d = DataType::f32;
    for (const char* parameters : {"", "split_k=2"}) {
        Bench bench(options_in(folder, parameters));
        for (const GemmSpec& spec : {plain, with_c}) {
            const KernelSource& source = state_of(bench.context.kernel(spec)).source();
            CompileRequest request = compile_request(source);
            request.arch = "compute_90a";
            const std::string ptx = bench.context.compiler->compile(request).binary;
            for (const KernelEntry& entry : source.entries) {
                CHECK(parameter_bytes(ptx, entry.function) == argument_layout(entry.arguments).bytes);
            }
        }
    }
}

TEST_CASE("a compiled kernel is exported") {
    const TemporaryFolder folder;
    Bench bench(options_in(folder));
    const GemmKernel kernel = bench.context.kernel({.m = 1000, .n = 777, .k = 999});
    const LoadedKernel loaded = bench.context.load(state_of(kernel).source(), kernel.source());
    export_kernel(state_of(kernel).source(), problem_of(kernel.spec()), loaded.compiled, folder / "out");
    CHECK(text_in(folder / "out/gemm_bf16_tn.cubin").starts_with(kElf));
    CHECK(text_in(folder / "out/gemm_bf16_tn.cu") == kernel.source());
}
