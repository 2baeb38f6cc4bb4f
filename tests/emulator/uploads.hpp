#pragma once

/// \file Values of small integers, and uploads to the emulator's memory.

#include "runtime/support/element_codec.hpp"
#include "tests/emulator/emulator.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace jitgemm::testing {

/// Returns `count` integers between -2 and 2.
inline std::vector<float> small_integers(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random() % 5) - 2;
    return values;
}

/// Stores the values as bf16.
inline DeviceBuffer upload(const std::vector<float>& values) {
    std::vector<std::uint16_t> bits(values.size());
    convert_elements(values.data(), DataType::f32, bits.data(), DataType::bf16, values.size());
    DeviceBuffer buffer = on_hopper().allocate(2 * bits.size());
    buffer.copy_from_host(bits.data(), 2 * bits.size());
    return buffer;
}

/// The buffer ends with the last value. A kernel must not read beyond it.
inline DeviceBuffer upload(const std::vector<std::int32_t>& values) {
    DeviceBuffer buffer = on_hopper().allocate(4 * values.size());
    buffer.copy_from_host(values.data(), 4 * values.size());
    return buffer;
}

}  // namespace jitgemm::testing
