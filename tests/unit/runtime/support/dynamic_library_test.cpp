#include "runtime/support/dynamic_library.hpp"

#include "tests/catch.hpp"

#include <filesystem>
#include <utility>

using jitgemm::DynamicLibrary;

TEST_CASE("the first library that loads is taken. What was tried before it is told") {
    std::vector<std::string> tried;
    const DynamicLibrary library =
        DynamicLibrary::open_first({"/nonexistent/libone.so", "libnone-such.so.7", "libm.so.6"}, tried);
    REQUIRE(library);
    REQUIRE(tried.size() == 2);
    CHECK(tried[0].starts_with("/nonexistent/libone.so: "));
    CHECK(tried[1].starts_with("libnone-such.so.7: "));
    CHECK(std::filesystem::path(library.path()).is_absolute());
    CHECK(library.path().find("libm.so.6") != std::string::npos);
    CHECK(library.symbol("cos") != nullptr);
    CHECK(library.symbol("no_such_function") == nullptr);
}

TEST_CASE("no library is a library without functions") {
    std::vector<std::string> tried;
    const DynamicLibrary none = DynamicLibrary::open_first({}, tried);
    CHECK_FALSE(none);
    CHECK(none.symbol("cos") == nullptr);
    none.keep_loaded();
}

TEST_CASE("moving a library moves it") {
    std::vector<std::string> tried;
    DynamicLibrary one = DynamicLibrary::open_first({"libm.so.6"}, tried);
    DynamicLibrary two = std::move(one);
    CHECK(two.symbol("cos") != nullptr);
    DynamicLibrary three;
    three = std::move(two);
    three.keep_loaded();
    CHECK(three.symbol("cos") != nullptr);
}
