#include "generator/families/params_text.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

std::string commented(const std::string& code, std::string_view comment) {
    return comment.empty() ? code + '\n' : fmt::format("{:<40}// {}\n", code, comment);
}

}  // namespace

int type_code(std::optional<DataType> type) {
    if (!type) return 3;
    return *type == DataType::f16 ? 0 : *type == DataType::bf16 ? 1 : 2;
}

std::string_view element_type(DataType type) { return type == DataType::f32 ? "float" : "Bits"; }

std::string constant_line(std::string_view name, int value, std::string_view comment) {
    return commented(fmt::format("constexpr int {:<10} = {};", name, value), comment);
}

std::string alias_line(std::string_view name, std::string_view type, std::string_view comment) {
    return commented(fmt::format("using {:<11} = {};", name, type), comment);
}

}  // namespace jitgemm
