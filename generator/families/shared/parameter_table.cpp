#include "generator/families/shared/parameter_table.hpp"

#include <algorithm>
#include <charconv>

namespace jitgemm {

bool TextReader::take(std::string_view word) {
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
}

bool TextReader::take_number(int& value) {
    int number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc{} || number < 0 || number > kLargestNumber) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    value = number;
    return true;
}

bool TextReader::take_flag(bool& flag) {
    if (take("1") || take("true")) return flag = true, true;
    if (take("0") || take("false")) return flag = false, true;
    return false;
}

bool TextReader::take_shape(TileShape& shape) { return take_shape_2d(shape) && take("x") && take_number(shape.k); }

bool TextReader::take_shape_2d(TileShape& shape) { return take_number(shape.m) && take("x") && take_number(shape.n); }

std::string_view TextReader::take_token() {
    const std::size_t end = rest_.find('_');
    const std::string_view token = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    return token;
}

std::string shape_text(const TileShape& shape) { return fmt::format("{}x{}x{}", shape.m, shape.n, shape.k); }
std::string shape_text_2d(const TileShape& shape) { return fmt::format("{}x{}", shape.m, shape.n); }
std::string flag_text(bool flag) { return flag ? "1" : "0"; }

void settle_group(Rasterization rasterization, int& group, int usual, const ParameterMap& given) {
    if (given.count("rasterization") == 0 || given.count("group") != 0) return;
    group = !has_groups(rasterization) ? 1 : group > 1 ? group : usual;
}

std::string value_in_name(std::string value) {
    std::ranges::replace(value, '_', '-');
    return value;
}

std::string value_from_name(std::string_view text) {
    std::string value(text);
    std::ranges::replace(value, '-', '_');
    return value;
}

}  // namespace jitgemm
