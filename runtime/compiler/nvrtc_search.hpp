#pragma once

#include <memory>
#include <string>
#include <vector>

namespace jitgemm {

class Nvrtc;

/// Nvrtc::load over a given list of candidates.
[[nodiscard]] std::shared_ptr<Nvrtc> load_nvrtc(const std::vector<std::string>& candidates, int newest_major);

/// Everything a search over these candidates depends on, as one hash: the list itself, size and time of each file in
/// it, and what the system's own search looks at. The same fingerprint means the same library would be found.
[[nodiscard]] std::string search_fingerprint(const std::vector<std::string>& candidates, int newest_major);

}  // namespace jitgemm
