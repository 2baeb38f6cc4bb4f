#pragma once

#include "jitgemm/options.hpp"
#include "runtime/tuning/store/lookup.hpp"

#include <functional>
#include <string_view>

namespace jitgemm {
class Compiler;
class Device;
class TemplateSet;
}  // namespace jitgemm

namespace jitgemm::tuning {

/// Whether a record of this device class may serve.
using ClassFilter = std::function<bool(std::string_view device_class)>;

/// The winners of the wisdom file and of the store in `options` that pass the filter. Nothing is made on disk. An
/// unreadable record is a warning in the log. All are returned, because the better one may be unsound.
[[nodiscard]] std::vector<Winner> tuned_winners(const Options& options, const ClassFilter& serves);

/// The versions in every new record: the library's and its templates'.
[[nodiscard]] Versions own_versions(const TemplateSet& templates);

/// The device's part of a record. Only the version of `compiler` is asked.
[[nodiscard]] DeviceFacts device_facts(const Device& device, const TemplateSet& templates, Compiler& compiler);

/// The choices for requests on a device.
[[nodiscard]] TunedChoices tuned_choices(const Options& options, const Device& device, const TemplateSet& templates,
                                         Compiler& compiler);
/// The choices for a GPU that is only named. A table of GPUs does not hold the memory's size, so any class that agrees
/// in everything else serves. Versions of a device and a compiler are not compared.
[[nodiscard]] TunedChoices tuned_choices(const Options& options, const GpuModel& gpu, const TemplateSet& templates);

}  // namespace jitgemm::tuning
