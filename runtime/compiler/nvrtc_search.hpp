#pragma once

#include <memory>
#include <string>
#include <vector>

namespace jitgemm {

class Nvrtc;

/// Nvrtc::load over these candidates.
[[nodiscard]] std::shared_ptr<Nvrtc> load_nvrtc(const std::vector<std::string>& candidates, int newest_major);

/// A hash of everything on which a search over these candidates depends: the list, size and time of each file in it,
/// and the files of the system's own search. Two equal fingerprints find the same library.
[[nodiscard]] std::string search_fingerprint(const std::vector<std::string>& candidates, int newest_major);

}  // namespace jitgemm
