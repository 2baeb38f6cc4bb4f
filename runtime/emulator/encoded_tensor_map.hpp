#pragma once

#include "generator/base/tensor_map.hpp"

#include <optional>

namespace jitgemm::emulator {

/// The emulator's own bytes for a tensor map, which a kernel takes by value. Throws Error with a rule of
/// cuTensorMapEncodeTiled that the map breaks.
[[nodiscard]] EncodedTensorMap encode_tensor_map(const TiledTensorMap& map);

/// The map that encode_tensor_map() encoded as these bytes; nothing for other bytes.
[[nodiscard]] std::optional<TiledTensorMap> decode_tensor_map(const EncodedTensorMap& encoded);

}  // namespace jitgemm::emulator
