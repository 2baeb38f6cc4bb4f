#include "runtime/compiler/nvrtc_search.hpp"

#include "jitgemm/error.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

std::ptrdiff_t place_of(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) - list.begin();
}
bool names(const std::vector<std::string>& list, const std::string& text) {
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

std::string failure(const std::vector<std::string>& candidates, int newest_major) {
    try {
        static_cast<void>(load_nvrtc(candidates, newest_major));
    } catch (const CompileError& error) {
        CHECK(error.log().empty());
        return error.what();
    }
    return "loaded";
}

}  // namespace

TEST_CASE("the search goes from the setting of the toolkit over the system to the wheels") {
    Options options;
    options.cuda_path = "/opt/cuda";
    options.wheel_directory = "/opt/wheels";
    const std::vector<std::string> list = nvrtc_search_list(options, 0);
    const std::vector<std::string> order{"/opt/cuda/lib64/libnvrtc.so.13",
                                         "/opt/cuda/lib64/libnvrtc.so.12",
                                         "libnvrtc.so.13",
                                         "libnvrtc.so.12",
                                         "/usr/local/cuda/lib64/libnvrtc.so.13",
                                         "/opt/wheels/nvidia/cu13/lib/libnvrtc.so.13",
                                         "/opt/wheels/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"};
    for (std::size_t i = 1; i < order.size(); ++i) CHECK(place_of(list, order[i - 1]) < place_of(list, order[i]));
    CHECK(place_of(list, order.back()) < std::ssize(list));
}

TEST_CASE("a library named by the user is the only candidate") {
    Options options;
    options.nvrtc_library = "/opt/libnvrtc.so.13";
    options.cuda_path = "/opt/cuda";
    CHECK(nvrtc_search_list(options, 0) == std::vector<std::string>{"/opt/libnvrtc.so.13"});
}

TEST_CASE("majors the driver cannot take are not looked for") {
    Options options;
    options.wheel_directory = "/opt/wheels";
    CHECK_FALSE(names(nvrtc_search_list(options, 12), "libnvrtc.so.13"));
    CHECK(names(nvrtc_search_list(options, 12), "libnvrtc.so.12"));
    CHECK(names(nvrtc_search_list(options, 14), "/opt/wheels/nvidia/cu14/lib/libnvrtc.so.14"));
}

TEST_CASE("a missing NVRTC: what was looked for, where, and which wheel would do") {
    const std::string message = failure({"/nonexistent/libnvrtc.so.13", "libnvrtc.so.77"}, 0);
    CHECK_THAT(message, ContainsSubstring("/nonexistent/libnvrtc.so.13: "));
    CHECK_THAT(message, ContainsSubstring("libnvrtc.so.77: "));
    CHECK_THAT(message, ContainsSubstring("nvidia-cuda-nvrtc would do"));
    CHECK_THAT(message, ContainsSubstring("JITGEMM_WHEELS"));
    CHECK_THAT(failure({}, 12), ContainsSubstring("nvidia-cuda-nvrtc-cu12"));
    CHECK_THAT(failure({}, 12), ContainsSubstring("CUDA 12 at most"));
    CHECK_THAT(failure({}, 13), ContainsSubstring("'nvidia-cuda-nvrtc==13.*'"));
}

TEST_CASE("a library that is no NVRTC is passed over") {
    CHECK_THAT(failure({"libm.so.6"}, 0), ContainsSubstring("has no function nvrtcVersion"));
    const testing::TemporaryFolder folder;
    testing::put_text(folder / "libnvrtc.so.13", "no ELF file");
    CHECK_THAT(failure({folder / "libnvrtc.so.13"}, 0), ContainsSubstring(folder / "libnvrtc.so.13"));
}

TEST_CASE("the fingerprint changes with all that decides a search") {
    const testing::TemporaryFolder folder;
    const std::vector<std::string> candidates{folder / "first.so", folder / "second.so", "libnvrtc.so.13"};
    testing::put_text(folder / "second.so", "1");
    const std::string before = search_fingerprint(candidates, 13);
    CHECK(search_fingerprint(candidates, 13) == before);
    CHECK(search_fingerprint(candidates, 12) != before);
    CHECK(search_fingerprint({candidates[0], candidates[1]}, 13) != before);
    SECTION("a library changed") { testing::put_text(folder / "second.so", "22"); }
    SECTION("a library was touched") {
        std::filesystem::last_write_time(folder / "second.so",
                                         std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    }
    SECTION("an earlier candidate appeared") { testing::put_text(folder / "first.so", "1"); }
    SECTION("a library is gone") { std::filesystem::remove(folder / "second.so"); }
    CHECK(search_fingerprint(candidates, 13) != before);
}
