#include "runtime/cli/npy.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::TemporaryFolder;

namespace {

/// Files that numpy wrote; each holds 0, 0.25, 0.5 / 0.75, 1, 1.25 unless its name says otherwise.
std::string numpy_file(const std::string& name) { return std::string(JITGEMM_SOURCE_DIR "/tests/data/npy/") + name; }

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string write(const TemporaryFolder& folder, const std::string& bytes) {
    const std::string path = folder / "array.npy";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

double element(const NpyMatrix& matrix, std::int64_t row, std::int64_t column) {
    const std::int64_t index =
        matrix.order() == Order::row ? row * matrix.columns() + column : column * matrix.rows() + row;
    return element_value(matrix.data(), matrix.type(), index);
}

void check_numbers(const NpyMatrix& matrix) {
    REQUIRE(matrix.rows() == 2);
    REQUIRE(matrix.columns() == 3);
    for (int row = 0; row < 2; ++row)
        for (int column = 0; column < 3; ++column) CHECK(element(matrix, row, column) == (3 * row + column) / 4.0);
}

std::string with_header(const std::string& dictionary, const std::string& data = std::string(24, '\0')) {
    const std::string header = dictionary + "\n";
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

constexpr const char* kGood = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";

}  // namespace

TEST_CASE("matrices that numpy wrote are read, of either order and every version") {
    for (const char* name : {"f16_c.npy", "f16_fortran.npy", "f32_c.npy", "f32_version2.npy", "f32_version3.npy"}) {
        INFO(name);
        const NpyMatrix matrix = NpyMatrix::open(numpy_file(name));
        check_numbers(matrix);
        CHECK((matrix.order() == Order::column) == (std::string(name) == "f16_fortran.npy"));
        CHECK(matrix.type() == (std::string(name).starts_with("f16") ? DataType::f16 : DataType::f32));
    }
}

TEST_CASE("bf16 of ml_dtypes is read only when the type is named") {
    check_numbers(NpyMatrix::open(numpy_file("bf16_c.npy"), DataType::bf16));
    CHECK(NpyMatrix::open(numpy_file("bf16_c.npy"), DataType::bf16).type() == DataType::bf16);
    CHECK_THROWS_WITH(NpyMatrix::open(numpy_file("bf16_c.npy")), ContainsSubstring("name the type"));
}

TEST_CASE("a named type does not reinterpret a file that says what it holds") {
    CHECK(NpyMatrix::open(numpy_file("f16_c.npy"), DataType::bf16).type() == DataType::f16);
}

TEST_CASE("files that cannot be multiplied are refused with the reason and the path") {
    CHECK_THROWS_WITH(NpyMatrix::open(numpy_file("f64_c.npy")),
                      ContainsSubstring("float64") && ContainsSubstring(numpy_file("f64_c.npy")));
    CHECK_THROWS_WITH(NpyMatrix::open(numpy_file("f16_vector.npy")), ContainsSubstring("its shape is (6,)"));
    CHECK_THROWS_WITH(NpyMatrix::open(numpy_file("f32_big_endian.npy")), ContainsSubstring("big-endian"));
    CHECK_THROWS_WITH(NpyMatrix::open(numpy_file("absent.npy")), ContainsSubstring("No such file"));
    CHECK_THROWS_WITH(NpyMatrix::open(numpy_file("")), ContainsSubstring("not a regular file"));
}

TEST_CASE("bytes are 8-bit floats where their type is named") {
    const TemporaryFolder folder;
    // ml_dtypes writes e4m3 as '<V1' and e5m2 as '<f1'; numpy writes '|V1' and '|u1'.
    for (const std::string descr : {"<V1", "|V1", "<f1", "|u1"}) {
        INFO(descr);
        const std::string file = write(
            folder, with_header("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2, 3), }", "abcdef"));
        for (const DataType type : {DataType::e4m3, DataType::e5m2}) {
            const NpyMatrix matrix = NpyMatrix::open(file, type);
            CHECK(matrix.type() == type);
            CHECK(std::string(reinterpret_cast<const char*>(matrix.data()), matrix.size_bytes()) == "abcdef");
        }
        CHECK_THROWS_WITH(NpyMatrix::open(file, DataType::bf16), testing::Says("bytes", "e4m3", "e5m2", descr));
        CHECK_THROWS_WITH(NpyMatrix::open(file), testing::Says("bytes", "name the type"));
    }
}

TEST_CASE("every truncation of a file is an error") {
    const TemporaryFolder folder;
    const std::string whole = contents(numpy_file("f32_c.npy"));
    REQUIRE(whole.size() == 152);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(size);
        REQUIRE_THROWS_AS(NpyMatrix::open(write(folder, whole.substr(0, size))), Error);
    }
    CHECK_THROWS_WITH(NpyMatrix::open(write(folder, whole.substr(0, 150))), testing::Says("needs", "24", "22"));
}

TEST_CASE("malformed headers are refused") {
    const TemporaryFolder folder;
    check_numbers(NpyMatrix::open(write(folder, with_header(kGood, contents(numpy_file("f32_c.npy")).substr(128)))));
    const char* malformed[] = {
        "",
        "{",
        "{}",
        "not a dictionary",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'extra': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': (3, 2), }",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904), }",
    };
    for (const char* header : malformed) {
        INFO(header);
        CHECK_THROWS_AS(NpyMatrix::open(write(folder, with_header(header))), Error);
    }
    CHECK_THROWS_WITH(parse_npy_header("PK\x03\x04 a zip file"), ContainsSubstring("not a .npy file"));
    CHECK_THROWS_WITH(parse_npy_header(std::string("\x93NUMPY\x09\x00\x10\x00", 10)), ContainsSubstring("version 9"));
}

TEST_CASE("a matrix without elements is one of no bytes") {
    const TemporaryFolder folder;
    const NpyMatrix empty =
        NpyMatrix::open(write(folder, with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", "")));
    CHECK(empty.size_bytes() == 0);
    CHECK(empty.elements_as(DataType::f32).empty());
    CHECK(empty.elements_as(DataType::f16).empty());
}

TEST_CASE("key order, spaces and a missing comma at the end do not matter") {
    const TemporaryFolder folder;
    const NpyMatrix matrix =
        NpyMatrix::open(write(folder, with_header("{ \"shape\":(2,3) ,'fortran_order' : True,\t'descr':'<f4'}")));
    CHECK(matrix.order() == Order::column);
}

TEST_CASE("what is written is read back, byte for byte what numpy would write") {
    const TemporaryFolder folder;
    const NpyMatrix f16 = NpyMatrix::open(numpy_file("f16_c.npy"));
    write_npy(folder / "d.npy", DataType::f16, {2, 3}, Order::row, f16.data());
    CHECK(contents(folder / "d.npy") == contents(numpy_file("f16_c.npy")));

    const NpyMatrix fortran = NpyMatrix::open(numpy_file("f16_fortran.npy"));
    write_npy(folder / "d.npy", DataType::f16, {2, 3}, Order::column, fortran.data());  // replaces the file
    CHECK(contents(folder / "d.npy") == contents(numpy_file("f16_fortran.npy")));

    const NpyMatrix bf16 = NpyMatrix::open(numpy_file("bf16_c.npy"), DataType::bf16);
    write_npy(folder / "d.npy", DataType::bf16, {2, 3}, Order::row, bf16.data());
    CHECK(contents(folder / "d.npy") == contents(numpy_file("f32_c.npy")));
}

TEST_CASE("a file that cannot be written leaves nothing behind") {
    const TemporaryFolder folder;
    const float value = 1;
    CHECK_THROWS_WITH(write_npy(folder / "absent/d.npy", DataType::f32, {1, 1}, Order::row, &value),
                      ContainsSubstring("absent/d.npy"));
    std::filesystem::create_directory(folder / "d.npy");  // a rename onto a folder fails
    CHECK_THROWS_AS(write_npy(folder / "d.npy", DataType::f32, {1, 1}, Order::row, &value), Error);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    CHECK_THROWS_WITH(write_npy(folder / "e.npy", DataType::e4m3, {1, 1}, Order::row, &value),
                      ContainsSubstring("e4m3"));
}

TEST_CASE("elements are converted to the type of the product") {
    const NpyMatrix f32 = NpyMatrix::open(numpy_file("f32_c.npy"));
    const std::vector<std::byte> converted = f32.elements_as(DataType::f16);
    const NpyMatrix f16 = NpyMatrix::open(numpy_file("f16_c.npy"));
    REQUIRE(converted.size() == f16.size_bytes());
    CHECK(std::memcmp(converted.data(), f16.data(), converted.size()) == 0);
}

TEST_CASE("operands of different shapes are named with their shapes") {
    const NpyMatrix matrix = NpyMatrix::open(numpy_file("f16_c.npy"));
    const std::vector<std::string> reasons = operand_mismatches(matrix, matrix, &matrix);
    REQUIRE(reasons.size() == 1);  // C is 2x3 as D is
    CHECK_THAT(reasons[0], ContainsSubstring("is 2x3 and B") && ContainsSubstring("one K"));
}
