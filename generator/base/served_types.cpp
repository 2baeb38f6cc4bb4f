#include "generator/base/served_types.hpp"

#include "generator/base/packed_operand.hpp"
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
    std::vector<std::string> reasons;
    if (bytes(asked.a) != 1) return reasons;
    const std::int64_t run = asked.d_order == Order::row ? asked.n : asked.m;
    if (bytes(asked.d) == 1 && (run % kTmaAlignment != 0 || needs_packing(asked.align_d)))
        reasons.push_back(fmt::format(
            "a {} of D has {} elements of {} and is aligned to {} bytes, but D of 8 bits is "
            "stored 16 bytes at a time: both must be multiples of {}",
            asked.d_order == Order::row ? "row" : "column", run, to_string(asked.d), asked.align_d, kTmaAlignment));
    if (asked.accumulator == DataType::f16)
        reasons.push_back(
            fmt::format("the accumulator is f16, but sums of {} are f32 in all kernels", to_string(asked.a)));
    return reasons;
}

}  // namespace jitgemm
