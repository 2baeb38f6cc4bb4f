#include "runtime/support/hash.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace jitgemm {

std::string hash_hex(std::string_view data) {
    const XXH128_hash_t hash = XXH3_128bits(data.data(), data.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace jitgemm
