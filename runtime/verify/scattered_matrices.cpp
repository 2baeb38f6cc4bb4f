#include "runtime/verify/scattered_matrices.hpp"

#include "generator/base/round_up.hpp"

#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

namespace jitgemm {

MatrixForm scattered(MatrixForm form) {
    constexpr std::int64_t kGap = 256;  // bytes at least; a multiple of all alignments
    form.batch_stride = round_up(form.matrix_bytes() + kGap, kGap) / bytes(form.type);
    return form;
}

std::vector<std::int64_t> random_places(std::int64_t problems, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::int64_t> places(static_cast<std::size_t>(problems));
    std::iota(places.begin(), places.end(), std::int64_t{0});
    for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random() % i]);
    return places;
}

std::vector<std::uint64_t> addresses_at(const MatrixForm& form, DevicePointer first,
                                        const std::vector<std::int64_t>& places) {
    std::vector<std::uint64_t> addresses;
    for (const std::int64_t place : places)
        addresses.push_back(first.address + static_cast<std::uint64_t>(place * form.batch_stride * bytes(form.type)));
    return addresses;
}

}  // namespace jitgemm
