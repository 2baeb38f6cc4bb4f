#pragma once

#include "generator/kernel_set.hpp"
#include "runtime/tuning/store/record_json.hpp"
#include "runtime/tuning/store/records.hpp"

#include <string>

namespace jitgemm::tuning {

/// A kernel set that was chosen from measured times. It serves requests with the same problem, range and narrowing on
/// devices of its class, as long as the versions are today's (is_stale).
struct TunedSet {
    std::string device_class;
    Versions versions;
    std::string narrowed;  ///< the limits of the choice, in the words of narrowing(); empty: none
    KernelSet set;
};

[[nodiscard]] Json json_of(const TunedSet& tuned);
/// Whether a set is meant, sound or not.
[[nodiscard]] bool is_tuned_set(const Json& json);
/// Throws Error or nlohmann's exception for a set that is damaged or of another version.
[[nodiscard]] TunedSet tuned_set_of(const Json& json);

[[nodiscard]] bool is_stale(const TunedSet& tuned, const Versions& today);

}  // namespace jitgemm::tuning
