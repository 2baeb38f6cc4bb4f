#pragma once

#include "generator/base/tensor_map.hpp"

#include <optional>

namespace jitgemm::emulator {

/// The emulator's own bytes for a tensor map, as a kernel takes it by value. Throws Error naming a rule of
/// cuTensorMapEncodeTiled that it breaks.
[[nodiscard]] EncodedTensorMap encode_tensor_map(const TiledTensorMap& map);

/// What encode_tensor_map made those bytes of; nothing where it did not.
[[nodiscard]] std::optional<TiledTensorMap> decode_tensor_map(const EncodedTensorMap& encoded);

}  // namespace jitgemm::emulator
