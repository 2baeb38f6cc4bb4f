#include "generator/base/served_types.hpp"

#include "generator/text/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {

std::span<const DataType> served_types() {
    static constexpr std::array kServed{DataType::f16,  DataType::bf16, DataType::f32,
                                        DataType::e4m3, DataType::e5m2, DataType::s8};
    return kServed;
}

std::vector<std::string> unserved_types(const GemmSpec& spec) {
    for (const DataType type : {spec.a, spec.b}) {
        if (std::ranges::find(served_types(), type) != served_types().end()) continue;
        std::vector<std::string_view> served;
        for (const DataType one : served_types()) served.push_back(to_string(one));
        return {fmt::format("no kernel family multiplies {} yet: A and B are one of {}", to_string(type),
                            join_names(served))};
    }
    return {};
}

std::vector<std::string> unserved_8_bits(const GemmSpec& asked) {
    if (bytes(asked.a) != 1 || asked.accumulator != DataType::f16) return {};
    return {fmt::format("the accumulator is f16, but sums of {} are f32 in all kernels", to_string(asked.a))};
}

}  // namespace jitgemm
