#include "jitgemm/data_type.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <set>

using namespace jitgemm;

TEST_CASE("every data type has one row at its own place, and its name leads back to it") {
    std::set<std::string_view> names;
    CHECK(data_type_table().size() == static_cast<std::size_t>(DataType::s32) + 1);
    for (std::size_t i = 0; i < data_type_table().size(); ++i) {
        const DataTypeInfo& row = data_type_table()[i];
        CHECK(static_cast<std::size_t>(row.type) == i);
        CHECK(&info(row.type) == &row);
        CHECK(to_string(row.type) == row.name);
        CHECK(parse_data_type(row.name) == row.type);
        CHECK(names.insert(row.name).second);
    }
}

TEST_CASE("sizes follow from the names: the sum of an 8-bit float's fields, else the number in the name") {
    CHECK(bytes(DataType::f16) == 2);
    CHECK(bytes(DataType::bf16) == 2);
    CHECK(bytes(DataType::f32) == 4);
    CHECK(bytes(DataType::tf32) == 4);  // 19 bits that live in a 32-bit word
    CHECK(bytes(DataType::e4m3) == 1);
    CHECK(bytes(DataType::e5m2) == 1);
    CHECK(bytes(DataType::s8) == 1);
    CHECK(bytes(DataType::s32) == 4);
}

TEST_CASE("default accumulators are wide and default outputs are not narrower than the inputs") {
    for (const DataTypeInfo& row : data_type_table()) {
        CHECK(bytes(row.accumulator) == 4);
        CHECK(bytes(row.output) >= row.bytes);
        const bool integer = row.type == DataType::s8 || row.type == DataType::s32;
        CHECK((row.accumulator == DataType::s32) == integer);
    }
}

TEST_CASE("only exact names are types") {
    for (const std::string_view name : {"", "F16", "fp16", "bf16 ", "half", "f1", "s321"}) {
        CHECK(!parse_data_type(name));
    }
}

TEST_CASE("a number that is no type is refused, not looked up") {
    CHECK(is_known(DataType::s32));
    for (const int number : {8, 99, 255}) {
        const auto type = static_cast<DataType>(number);
        CHECK(!is_known(type));
        CHECK_THROWS_AS(info(type), SpecError);
        CHECK_THROWS_AS(to_string(type), SpecError);
        CHECK_THROWS_AS(bytes(type), SpecError);
    }
}

TEST_CASE("what people write is understood in any case and in other libraries' words") {
    for (const DataTypeInfo& row : data_type_table()) CHECK(data_type_of_word(row.name) == row.type);
    CHECK(data_type_of_word("BF16") == DataType::bf16);
    CHECK(data_type_of_word("bfloat16") == DataType::bf16);
    CHECK(data_type_of_word("Float16") == DataType::f16);
    CHECK(data_type_of_word("FP16") == DataType::f16);
    CHECK(data_type_of_word("float8_e4m3fn") == DataType::e4m3);
    CHECK(data_type_of_word("int8") == DataType::s8);
    for (const std::string_view word :
         {"float8_e4m3", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float8_e3m4"})
        CHECK(!data_type_of_word(word));  // other formats of 8 bits
    for (const std::string_view word : {"", "bf17", "float64", "f16 "}) CHECK(!data_type_of_word(word));
}
