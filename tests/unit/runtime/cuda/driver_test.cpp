#include "runtime/cuda/driver.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

// The toolkit's library to link against, where a toolkit is installed; empty otherwise.
std::string stub_library() {
    for (const char* path : {"/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/lib/x86_64-linux-gnu/stubs/libcuda.so"}) {
        if (std::filesystem::exists(path)) return path;
    }
    return {};
}

CudaError load_failure(const std::vector<std::string>& candidates) {
    try {
        static_cast<void>(load_driver(candidates));
    } catch (const CudaError& error) {
        return error;
    }
    throw std::runtime_error("a driver was found");
}

}  // namespace

TEST_CASE("a missing driver is told with what was looked for, where, and what to install") {
    const CudaError error = load_failure({"libcuda-that-is-not-there.so.1", "/nowhere/libcuda.so.1"});
    CHECK(error.call() == "dlopen");
    CHECK_THAT(error.what(), ContainsSubstring("no CUDA driver"));
    CHECK_THAT(error.what(), ContainsSubstring("libcuda-that-is-not-there.so.1"));
    CHECK_THAT(error.what(), ContainsSubstring("/nowhere/libcuda.so.1"));
    CHECK_THAT(error.what(), ContainsSubstring("install the NVIDIA driver"));
}

TEST_CASE("a library that is not the driver is passed over") {
    const CudaError error = load_failure({"libc.so.6", "/nowhere/libcuda.so.1"});
    CHECK_THAT(error.what(), ContainsSubstring("not a CUDA driver"));
    CHECK_THAT(error.what(), ContainsSubstring("/nowhere/libcuda.so.1"));
}

TEST_CASE("the toolkit's stub library is no driver") {
    const std::string stub = stub_library();
    if (stub.empty()) SKIP_TEST("no CUDA toolkit with a stub libcuda is installed");
    const CudaError error = load_failure({stub, "/nowhere/libcuda.so.1"});
    CHECK(error.result_name() == "CUDA_ERROR_STUB_LIBRARY");
    CHECK_THAT(error.what(), ContainsSubstring(stub));
    CHECK_THAT(error.what(), ContainsSubstring("stub"));
    CHECK_THAT(error.what(), ContainsSubstring("/nowhere/libcuda.so.1"));  // the search went on
}

TEST_CASE("every entry point carries a name drivers export") {
    const std::string stub = stub_library();
    if (stub.empty()) SKIP_TEST("no CUDA toolkit with a stub libcuda is installed");
    void* const library = dlopen(stub.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
#define JITGEMM_TEXT_OF(name) #name
#define JITGEMM_CHECK_EXPORT(name) \
    CHECKED_ELSE(dlsym(library, JITGEMM_TEXT_OF(name)) != nullptr) { FAIL_CHECK(JITGEMM_TEXT_OF(name)); }
    JITGEMM_DRIVER_FUNCTIONS(JITGEMM_CHECK_EXPORT)
    JITGEMM_DRIVER_OPTIONAL_FUNCTIONS(JITGEMM_CHECK_EXPORT)
}

TEST_CASE("the system's search comes first") {
    REQUIRE_FALSE(driver_search_list().empty());
    CHECK(driver_search_list().front() == "libcuda.so.1");
}

TEST_CASE("driver and try_driver agree") {
    std::string reason;
    const DriverApi* api = try_driver(reason);
    if (api != nullptr) {
        CHECK(api == &driver());
        CHECK(api->version >= 124);
        CHECK_FALSE(api->path.empty());
        return;
    }
    CHECK_FALSE(reason.empty());
    try {
        static_cast<void>(driver());
        FAIL("no exception");
    } catch (const CudaError& error) {
        CHECK(error.what() == reason);
    }
}
