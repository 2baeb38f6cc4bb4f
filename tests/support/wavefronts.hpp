#pragma once

#include "generator/layout/bank_conflicts.hpp"

/// \file The wavefronts of one access to shared memory, whose addresses (bytes, by lane) are given as a function.

namespace jitgemm::testing {

template <typename AddressOf>
[[nodiscard]] int ldmatrix_wavefronts(int x, const AddressOf& address_of) {
    return matrix_wavefronts(x, lane_addresses(address_of)).count;
}

template <typename AddressOf>
[[nodiscard]] int access_wavefronts(int bytes, const AddressOf& address_of) {
    return vector_wavefronts(bytes, lane_addresses(address_of)).count;
}

}  // namespace jitgemm::testing
