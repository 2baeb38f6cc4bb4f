#pragma once

#include "jitgemm/jitgemm_peer.h"
#include "runtime/bench/benchmark.hpp"

#include <memory>
#include <string>

namespace jitgemm {

/// The problem as a peer library is told of it. Strings are those of the type table and live for ever.
[[nodiscard]] jitgemm_peer_problem peer_problem(const GemmSpec& resolved_spec);

/// The peer of a shared object that defines jitgemm_peer_gemm. Throws Error saying what is wrong with it. `device` is
/// the one whose context is made current around each call; may be null.
[[nodiscard]] std::unique_ptr<Peer> open_peer_library(const std::string& path, std::shared_ptr<Device> device);

}  // namespace jitgemm
