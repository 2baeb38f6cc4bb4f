#pragma once

#include "runtime/cache/cache_key.hpp"

#include <cstddef>
#include <string>

namespace jitgemm {

/// The contents of meta.json: the key, checksums, and ptxas's report.
struct CacheMeta {
    std::string name;
    KeyFields key;
    std::string binary_file;  ///< "kernel.cubin" or "kernel.ptx"
    std::size_t binary_bytes = 0;
    std::string binary_hash;
    std::size_t source_bytes = 0;  ///< of kernel.cu, with its banner
    std::string source_hash;       ///< empty in entries of format 1
    PtxasReport report;
    std::string log;
    double compile_ms = 0;
    std::string jitgemm_version;  ///< the jitgemm that wrote it; for people, not compared
};

/// The JSON text, with a checksum over all other fields.
[[nodiscard]] std::string to_json(const CacheMeta& meta);

/// Throws Error with the flaw: no JSON, a missing field, a checksum that does not match.
[[nodiscard]] CacheMeta parse_cache_meta(const std::string& text);

}  // namespace jitgemm
