#pragma once

#include "jitgemm/jitgemm_peer.h"
#include "runtime/bench/benchmark.hpp"

#include <memory>
#include <string>
#include <vector>

namespace jitgemm {

/// The problem in the form that a peer library takes, without operands of an epilogue. Its strings live as long as the
/// process.
[[nodiscard]] jitgemm_peer_problem peer_problem(const GemmSpec& resolved_spec);
/// The operands of the spec's epilogue, without addresses and values.
[[nodiscard]] std::vector<jitgemm_peer_operand> peer_operands(const GemmSpec& resolved_spec);

/// The peer of a shared object that defines jitgemm_peer_gemm. Throws Error with its flaw. The context of `device` is
/// made current around each call; it may be null.
[[nodiscard]] std::unique_ptr<Peer> open_peer_library(const std::string& path, std::shared_ptr<Device> device);

}  // namespace jitgemm
