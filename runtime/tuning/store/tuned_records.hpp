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

/// Whether a record of that device class may serve.
using ClassFilter = std::function<bool(std::string_view device_class)>;

/// The winners of the wisdom file and of the store that `options` name, where they pass; nothing is made on disk. What
/// cannot be read is a warning in the log. All of them: which one is the better may hang on which one is sound.
[[nodiscard]] std::vector<Winner> tuned_winners(const Options& options, const ClassFilter& serves);

/// What records of today carry wherever they are made: the library's version and its templates'.
[[nodiscard]] Versions own_versions(const TemplateSet& templates);

/// What records of a device carry. `compiler` is asked for its version only.
[[nodiscard]] DeviceFacts device_facts(const Device& device, const TemplateSet& templates, Compiler& compiler);

/// What serves requests for a device.
[[nodiscard]] TunedChoices tuned_choices(const Options& options, const Device& device, const TemplateSet& templates,
                                         Compiler& compiler);
/// What would serve them on a GPU that is only named: a table of GPUs does not say how much memory one has, so any
/// class that is this GPU but for its memory serves. Versions that only a device and a compiler have are not compared.
[[nodiscard]] TunedChoices tuned_choices(const Options& options, const GpuModel& gpu, const TemplateSet& templates);

}  // namespace jitgemm::tuning
