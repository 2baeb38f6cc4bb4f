#pragma once

#include "generator/kernel_set.hpp"
#include "runtime/tuning/store/tuned_records.hpp"

#include <cstdint>
#include <functional>
#include <optional>
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

/// Writes the set to a file of its own in a store's folder, whole or not at all. It replaces the set of the same
/// request and class. Returns the file. Throws std::system_error.
std::string store_set(const std::string& directory, const TunedSet& tuned);

/// The sets of a store's folder that serve some devices.
class TunedSets {
public:
    TunedSets() = default;  ///< there are none
    /// `today` is asked once a set is there.
    TunedSets(std::string directory, ClassFilter serves, std::function<Versions()> today);

    /// The set of the request. A set that is damaged or stale, or whose kernels don't serve the range, is passed over
    /// with a line in the log.
    [[nodiscard]] std::optional<KernelSet> find(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m,
                                                const GpuModel& gpu, const Selection& selection) const;

private:
    std::string directory_;
    ClassFilter serves_;
    std::function<Versions()> today_;
};

/// Those for requests on a device, and those for a GPU that is only named: as tuned_choices(). The device and
/// the compiler must outlive the result.
[[nodiscard]] TunedSets tuned_sets(const Options& options, const Device& device, const TemplateSet& templates,
                                   Compiler& compiler);
[[nodiscard]] TunedSets tuned_sets(const Options& options, const GpuModel& gpu, const TemplateSet& templates);

}  // namespace jitgemm::tuning
