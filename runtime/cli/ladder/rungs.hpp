#pragma once

#include "generator/heuristics.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The computer of a rung.
enum class RungKind : std::uint8_t {
    cpu,      ///< the loop of cpu_loop.hpp
    family,   ///< the heuristic's choice within a family, with parameters fixed
    fastest,  ///< the heuristic's choice among all families
};

/// One step of the ladder from a plain loop to the fastest kernel.
struct Rung {
    std::string_view name;
    RungKind kind = RungKind::family;
    std::string_view family = {};      ///< empty except for RungKind::family
    std::string_view parameters = {};  ///< "name=value,...", the fixed parameters
    std::string_view sentence;         ///< the change against the previous rung
    bool halves_only = false;          ///< for tensor cores: only f16 and bf16
};

/// The rungs for A and B of this type, lowest first. Throws SpecError for a type that no rung multiplies.
[[nodiscard]] std::vector<Rung> ladder_rungs(DataType type);

/// The part of a kernel's choice that a rung fixes. Not for RungKind::cpu.
[[nodiscard]] Selection selection_of(const Rung& rung);

/// The command that prints the rung's source for a problem on a GPU of this architecture; empty for RungKind::cpu.
[[nodiscard]] std::string dump_command(const Rung& rung, const Problem& problem, const Arch& arch);

}  // namespace jitgemm
