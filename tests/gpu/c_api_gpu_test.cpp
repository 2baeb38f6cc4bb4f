/// The C interface on a GPU, and an exported kernel launched with the very arguments that it takes.

#include "jitgemm/jitgemm.h"
#include "runtime/context/context_state.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/export/export.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <dlfcn.h>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

constexpr const char* kShape = "bf16 tn 256 384 512";
constexpr std::size_t kM = 256;
constexpr std::size_t kN = 384;
constexpr std::size_t kK = 512;
constexpr std::uint16_t kOne = 0x3f80;          // bf16
constexpr std::uint16_t kTwoTimes512 = 0x4480;  // 1024
constexpr std::uint16_t kNaN = 0xffff;

/// A and B are ones, so that D is alpha K everywhere.
struct Ones {
    explicit Ones(Context& context)
        : a(context.allocate(2 * kM * kK)), b(context.allocate(2 * kN * kK)), d(context.allocate(2 * kM * kN)) {
        const std::vector<std::uint16_t> ones(kN * kK, kOne);
        a.copy_from_host(ones.data(), a.size_bytes());
        b.copy_from_host(ones.data(), b.size_bytes());
        clear();
    }
    void clear() {
        const std::vector<std::uint16_t> nan(kM * kN, kNaN);
        d.copy_from_host(nan.data(), d.size_bytes());
    }
    [[nodiscard]] bool is_right() const {
        std::vector<std::uint16_t> result(kM * kN);
        d.copy_to_host(result.data(), d.size_bytes());
        return std::ranges::all_of(result, [](std::uint16_t value) { return value == kTwoTimes512; });
    }
    [[nodiscard]] jg_arguments arguments() const {
        jg_arguments given = JG_ARGUMENTS_INIT;
        given.a = reinterpret_cast<const void*>(a.data().address);
        given.b = reinterpret_cast<const void*>(b.data().address);
        given.d = reinterpret_cast<void*>(d.data().address);
        given.alpha = 2;
        return given;
    }

    DeviceBuffer a;
    DeviceBuffer b;
    DeviceBuffer d;
};

struct PrimaryContext {
    PrimaryContext() {
        CUcontext context = nullptr;
        JITGEMM_CHECK(driver().cuDevicePrimaryCtxRetain(&context, 0));
        JITGEMM_CHECK(driver().cuCtxPushCurrent(context));
    }
    PrimaryContext(const PrimaryContext&) = delete;
    PrimaryContext& operator=(const PrimaryContext&) = delete;
    ~PrimaryContext() {
        CUcontext popped = nullptr;
        driver().cuCtxPopCurrent(&popped);
        driver().cuDevicePrimaryCtxRelease(0);
    }
};

template <typename Function>
Function* function_of(void* library, const char* name) {
    auto* const function = reinterpret_cast<Function*>(::dlsym(library, name));
    REQUIRE(function != nullptr);
    return function;
}

}  // namespace

TEST_CASE("C API on a GPU: a kernel launches, and so does the one exported of it, with the same arguments") {
    REQUIRE_GPU();
    const PrimaryContext primary;
    Context memory;
    Ones ones(memory);
    jg_arguments arguments = ones.arguments();

    jg_context* context = nullptr;
    jg_kernel* kernel = nullptr;
    REQUIRE(jg_context_create("device=cuda:0", &context) == JG_OK);
    REQUIRE(jg_kernel_create(context, kShape, &kernel) == JG_OK);
    CHECK(jg_kernel_launch(kernel, &arguments, nullptr) == JG_OK);
    memory.synchronize();
    CHECK(ones.is_right());
    std::size_t size = 0;
    CHECK(jg_kernel_query(kernel, "cubin", nullptr, &size) == JG_OK);
    std::string cubin(size, '\0');
    CHECK(jg_kernel_query(kernel, "cubin", cubin.data(), &size) == JG_OK);
    CHECK(cubin.substr(1, 3) == "ELF");
    jg_kernel_destroy(kernel);
    jg_context_destroy(context);

    const char* const include = "/usr/local/cuda/include";
    if (!std::filesystem::exists(std::string(include) + "/cuda.h")) SKIP_TEST("no CUDA toolkit in /usr/local/cuda");
    const TemporaryFolder folder;
    const GemmKernel twin = memory.kernel(parse_shape_line(kShape));
    const KernelState& state = state_of(twin);
    export_kernel(state.source(), state.problem, state.compiled(), folder / "out", {.name = "frozen"});
    const std::string build = fmt::format("cc -std=c99 -shared -fPIC -isystem {} {}/frozen.c -o {}", include,
                                          folder / "out", folder / "frozen.so");
    REQUIRE(std::system(build.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
    REQUIRE(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr);
    void* const library = ::dlopen((folder / "frozen.so").c_str(), RTLD_NOW);
    REQUIRE(library != nullptr);

    std::array<std::uint64_t, 16> frozen{};  // frozen_kernel: a module and its functions
    const DeviceBuffer workspace = memory.allocate(std::max<std::size_t>(twin.workspace_bytes(), 1));
    arguments.workspace = reinterpret_cast<void*>(workspace.data().address);
    arguments.workspace_bytes = twin.workspace_bytes();
    ones.clear();
    const std::string cubin_path = folder / "out/frozen.cubin";
    CHECK(function_of<CUresult(void*, const char*)>(library, "frozen_load")(frozen.data(), cubin_path.c_str()) ==
          CUDA_SUCCESS);
    CHECK(function_of<CUresult(const void*, const jg_arguments*, void*)>(library, "frozen_launch")(
              frozen.data(), &arguments, nullptr) == CUDA_SUCCESS);
    memory.synchronize();
    CHECK(ones.is_right());
    CHECK(function_of<CUresult(void*)>(library, "frozen_unload")(frozen.data()) == CUDA_SUCCESS);
}
