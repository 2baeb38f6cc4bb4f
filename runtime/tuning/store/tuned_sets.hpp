#pragma once

#include "generator/kernel_set.hpp"
#include "runtime/tuning/store/tuned_records.hpp"
#include "runtime/tuning/store/tuned_set.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::tuning {

/// Writes the set to a file of its own in a store's folder, whole or not at all. It replaces the set of the same
/// request and class. Returns the file. Throws std::system_error.
std::string store_set(const std::string& directory, const TunedSet& tuned);

/// The sets in a store's folder; those of one class of devices, if it is set. Damaged ones are in the log alone.
[[nodiscard]] std::vector<TunedSet> stored_sets(const std::string& directory, std::string_view device_class = {});
/// Removes them, damaged ones only without a class. Returns their number.
int forget_sets(const std::string& directory, std::string_view device_class = {});

/// The sets of a store's folder and, after these, of a wisdom file that serve some devices.
class TunedSets {
public:
    TunedSets() = default;  ///< there are none
    /// `today` is asked once a set is there.
    TunedSets(std::string directory, std::string wisdom, ClassFilter serves, std::function<Versions()> today);

    /// The set of the request. A set that is damaged or stale, or whose kernels don't serve the range, is passed over
    /// with a line in the log.
    [[nodiscard]] std::optional<KernelSet> find(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m,
                                                const GpuModel& gpu, const Selection& selection) const;

private:
    std::string directory_;
    std::string wisdom_;  ///< a file
    ClassFilter serves_;
    std::function<Versions()> today_;
};

/// Those for requests on a device, and those for a GPU that is only named: as tuned_choices(). The device and
/// the compiler must outlive the result.
[[nodiscard]] TunedSets tuned_sets(const Options& options, const Device& device, const TemplateSet& templates,
                                   Compiler& compiler);
[[nodiscard]] TunedSets tuned_sets(const Options& options, const GpuModel& gpu, const TemplateSet& templates);

}  // namespace jitgemm::tuning
