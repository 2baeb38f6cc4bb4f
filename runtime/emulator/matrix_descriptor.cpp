#include "runtime/emulator/matrix_descriptor.hpp"

#include "runtime/emulator/fault.hpp"

#include <array>

namespace jitgemm::emulator {
namespace {

constexpr std::uint32_t kChunkBytes = 16;
constexpr std::uint32_t kAtomRows = 8;  // of a core matrix, and of a swizzle's pattern

/// A field of 14 bits that counts 16 bytes.
std::uint32_t bytes_of_field(std::uint64_t bits, int first) {
    return static_cast<std::uint32_t>(bits >> first & 0x3fffU) * kChunkBytes;
}

std::uint32_t span_of_mode(std::uint64_t bits) {
    constexpr std::array<std::uint32_t, 4> kSpans{16, 128, 64, 32};  // by the mode's number
    return kSpans.at(static_cast<std::size_t>(bits >> 62U));
}

}  // namespace

MatrixDescriptor::MatrixDescriptor(std::uint64_t bits, bool k_major)
    : k_major_(k_major),
      start_(bytes_of_field(bits, 0)),
      leading_(bytes_of_field(bits, 16)),
      stride_(bytes_of_field(bits, 32)),
      span_(span_of_mode(bits)) {
    if ((bits >> 49U & 7U) != 0)
        throw AccessFault{FaultKind::unsupported, "a matrix descriptor with a base offset is not supported"};
}

std::uint32_t MatrixDescriptor::chunk(std::uint32_t row, std::uint32_t chunk) const {
    const std::uint32_t address = start_ + (k_major_ ? k_major_offset(row, chunk) : mn_major_offset(row, chunk));
    // TMA's pattern: bits 7 and on of the address over the chunk's.
    return address ^ (address >> 3U & (span_ - kChunkBytes));
}

std::uint32_t MatrixDescriptor::k_major_offset(std::uint32_t row, std::uint32_t chunk) const {
    const std::uint32_t eights = row / kAtomRows * stride_;
    if (span_ == kChunkBytes) return eights + row % kAtomRows * kChunkBytes + chunk * leading_;
    return eights + row % kAtomRows * span_ + chunk * kChunkBytes;
}

std::uint32_t MatrixDescriptor::mn_major_offset(std::uint32_t rows_of_eight, std::uint32_t k) const {
    if (span_ == kChunkBytes) return rows_of_eight * stride_ + k / kAtomRows * leading_ + k % kAtomRows * kChunkBytes;
    const std::uint32_t byte = rows_of_eight * kChunkBytes;
    return byte / span_ * leading_ + k / kAtomRows * stride_ + k % kAtomRows * span_ + byte % span_;
}

}  // namespace jitgemm::emulator
