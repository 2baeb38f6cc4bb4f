#include "runtime/support/hash.hpp"

#include "tests/catch.hpp"

TEST_CASE("XXH3-128 as the Python package xxhash gives it") {
    CHECK(jitgemm::hash_hex("") == "99aa06d3014798d86001c324468d497f");
    CHECK(jitgemm::hash_hex("jitgemm\n") == "1813ea52674ef90b9a0515835dc17f67");
    CHECK(jitgemm::hash_hex(std::string(1000, 'x')) == "50a1af5a5f2dcf01c0a4877b962cba82");
}
