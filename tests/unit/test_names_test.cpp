// ctest runs a test by giving its name to Catch2, which reads a pattern there: "~..." would run all tests but that one.

#include "tests/catch.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string whole_text(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// As the sources spell them, of all labels.
std::vector<std::string> test_names() {
    static const std::regex kTestCase(R"re(TEST_CASE\(\s*"((?:[^"\\]|\\.)*(?:"\s*"(?:[^"\\]|\\.)*)*)")re");
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(JITGEMM_SOURCE_DIR "/tests")) {
        if (!entry.path().string().ends_with("_test.cpp")) continue;
        const std::string text = whole_text(entry.path());
        for (std::sregex_iterator match(text.begin(), text.end(), kTestCase), end; match != end; ++match)
            names.push_back((*match)[1]);
    }
    return names;
}

/// Commas and brackets are escaped for Catch2; a semicolon would end the name in CMake's list of them.
bool names_one_test(std::string_view name) {
    constexpr std::string_view kBeginsPattern = "~*[ ";
    constexpr std::string_view kEndsPattern = "* ";
    return !name.empty() && kBeginsPattern.find(name.front()) == name.npos &&
           kEndsPattern.find(name.back()) == name.npos && name.find_first_of(";\\") == name.npos &&
           !name.starts_with("exclude:");
}

}  // namespace

TEST_CASE("each test's name is that test's alone where Catch2 reads it as a pattern") {
    CHECK_FALSE(names_one_test("~/ is a folder"));
    CHECK_FALSE(names_one_test("all that begin so*"));
    const std::vector<std::string> names = test_names();
    REQUIRE(names.size() > 500);
    for (const std::string& name : names) {
        INFO(name);
        CHECK(names_one_test(name));
    }
}
