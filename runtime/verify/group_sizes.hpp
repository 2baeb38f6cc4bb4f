#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "runtime/device/timing_protocol.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// The cumulative ends of `groups` groups that have `rows` rows in all.
[[nodiscard]] std::vector<std::int32_t> group_ends(std::int64_t groups, std::int64_t rows, GroupSizes sizes,
                                                   std::uint64_t seed);

/// The offsets of a problem with groups. With room for rows, they are numbers of rows, and a group that would have more
/// has as many as there is room for. `rows` is the number of rows in all.
[[nodiscard]] std::vector<std::int32_t> group_offsets(const GemmSpec& spec, std::int64_t rows, GroupSizes sizes,
                                                      std::uint64_t seed);

/// The rows of one group, or its part of K.
struct GroupRows {
    std::int64_t first = 0;
    std::int64_t count = 0;
};
[[nodiscard]] GroupRows rows_of_group(const std::vector<std::int32_t>& offsets, const GemmSpec& spec,
                                      std::int64_t group);

/// A row of A for each row of D. Rows repeat. `zeros`: for some rows of D there is none, so that they are zeros.
[[nodiscard]] std::vector<std::int32_t> row_index(const GemmSpec& spec, std::uint64_t seed, bool zeros);

/// The first rule that given offsets break, with the values; empty if they are right for the spec.
[[nodiscard]] std::string offsets_problem(const std::vector<std::int32_t>& offsets, const GemmSpec& spec);

}  // namespace jitgemm
