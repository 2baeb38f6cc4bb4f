#include "generator/families/mma_multistage/shared_accesses.hpp"

#include "generator/families/mma_multistage/family.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/layout/copy_atom.hpp"
#include "generator/layout/mma_atom.hpp"
#include "generator/layout/swizzle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

namespace jitgemm {
namespace {

constexpr int kWidestAccess = 16;

/// One kernel's operand with all that its addresses follow from.
struct OperandTile {
    Operand operand;
    OperandGeometry geometry;
    SharedLayout layout;

    /// Of an element of the tile as shared memory holds it: K-major (m or n, k), else (k, m or n).
    [[nodiscard]] int address(int row, int column_bytes) const {
        const int chunk = column_bytes / kChunkBytes;
        return chunk_offset(geometry, layout, row, chunk) + column_bytes % kChunkBytes;
    }
    /// Of (m or n, k).
    [[nodiscard]] int address(Coordinate element) const {
        return geometry.k_major ? address(element.row, element.column * geometry.element_bytes)
                                : address(element.column, element.row * geometry.element_bytes);
    }
};

void explain_conflicts(SharedAccess& access, std::string reason) {
    if (access.wavefronts > access.ideal) access.reason = std::move(reason);
}

std::string rows_share_banks(int row_bytes, int pitch_bytes) {
    return fmt::format("rows of {} bytes lie {} apart, so that those read or written together meet in a bank",
                       row_bytes, pitch_bytes);
}

/// Warps that share an operand's rows load the same. One row of such warps counts, `sharers` times.
struct WarpGrid {
    int distinct;  ///< warps along the operand's M or N
    int extent;    ///< of the warp tile along it
    int sharers;
};

/// One ldmatrix of the warp tile in all warps and k-blocks. `rows` are the lanes' rows in the first of them.
void add_ldmatrix(SharedAccess& access, const OperandTile& tile, const MmaMultistageConfig& c, const WarpGrid& warps,
                  int x, const std::array<Coordinate, kWarpLanes>& rows) {
    for (int first_row = 0; first_row < warps.distinct * warps.extent; first_row += warps.extent) {
        for (int first_k = 0; first_k < c.block.k; first_k += c.mma.k) {
            const LaneAddresses addresses = lane_addresses([&](int lane) {
                const Coordinate& row = rows[static_cast<std::size_t>(lane)];
                return tile.address(Coordinate{first_row + row.row, first_k + row.column});
            });
            add_instruction(access, matrix_wavefronts(x, addresses), warps.sharers);
        }
    }
}

SharedAccess ldmatrix_access(const OperandTile& tile, const MmaMultistageConfig& c, const TensorCoreGeometry& g,
                             const MmaAtom& atom) {
    const bool is_a = tile.operand == Operand::a;
    const WarpGrid warps = is_a ? WarpGrid{g.warps_m, c.warp.m, g.warps_n} : WarpGrid{g.warps_n, c.warp.n, g.warps_m};
    const TileShape repetitions{g.tiles_m, g.tiles_n, 1};
    const int x = is_a ? c.ldmatrix_a : c.ldmatrix_b;
    const bool trans = !tile.geometry.k_major;
    SharedAccess access;
    access.what = fmt::format("ldmatrix {}", to_string(tile.operand));
    access.instruction = fmt::format("ldmatrix.x{}{}", x, trans ? ".trans" : "");
    if (find_ldmatrix(x, trans) == nullptr) return access;
    const int matrices = matrices_8x8(tile.operand, c.mma, repetitions, 8 * tile.geometry.element_bytes);
    const LdmatrixChoice choice{.x = x, .trans = trans, .matrices = matrices, .instructions = matrices / x};
    for (int instruction = 0; instruction < choice.instructions; ++instruction) {
        std::array<Coordinate, kWarpLanes> rows;
        for (int lane = 0; lane < kWarpLanes; ++lane)
            rows[static_cast<std::size_t>(lane)] =
                ldmatrix_lane_row(atom, tile.operand, repetitions, choice, instruction, lane);
        add_ldmatrix(access, tile, c, warps, x, rows);
    }
    explain_conflicts(access,
                      fmt::format("of 8 rows {} bytes apart, some begin in the same bank", tile.geometry.pitch_bytes));
    return access;
}

/// One word of each lane: four rows of K of eight neighbours.
SharedAccess word_access(const OperandTile& tile, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    constexpr int kWord = 4;
    const bool is_a = tile.operand == Operand::a;
    const int extent = is_a ? c.block.m : c.block.n;
    const int sharers = is_a ? g.warps_n : g.warps_m;
    SharedAccess access;
    access.what = fmt::format("ld.shared {}", to_string(tile.operand));
    access.instruction = "ld.shared.b32 of 4 bytes";
    for (int first = 0; first < extent; first += 8) {
        for (int first_k = 0; first_k < c.block.k; first_k += 4) {
            const LaneAddresses addresses = lane_addresses([&](int lane) {
                return tile.address(Coordinate{first + lane / 4, first_k + lane % 4});
            });
            add_instruction(access, load_wavefronts(kWord, addresses), sharers);
        }
    }
    explain_conflicts(access, rows_share_banks(tile.geometry.row_bytes, tile.geometry.pitch_bytes));
    return access;
}

/// A warp lays pairs of sums into its strip of mma.m rows, fragment by fragment.
SharedAccess epilogue_store(const MmaMultistageConfig& c, const TensorCoreGeometry& g, const MmaAtom& atom) {
    const int bytes = 2 * g.staged_bytes;
    SharedAccess access;
    access.what = "epilogue store";
    access.instruction = fmt::format("st.shared of {} bytes", bytes);
    access.in_mainloop = false;
    for (int half = 0; half < 2; ++half) {
        for (int atom_n = 0; atom_n < g.tiles_n; ++atom_n) {
            const LaneAddresses addresses = lane_addresses([&](int lane) {
                const Coordinate first = atom.layout_c.coordinate(lane, 2 * half);
                return first.row * g.staged_pitch + (atom_n * c.mma.n + first.column) * g.staged_bytes;
            });
            add_instruction(access, vector_wavefronts(bytes, addresses), g.tiles_m * g.threads / kWarpLanes);
        }
    }
    return access;
}

void add_mainloop(std::vector<SharedAccess>& accesses, const MmaMultistageConfig& config, const TensorCoreGeometry& g,
                  const MmaAtom& atom) {
    const OperandTile a{Operand::a, g.a, config.shared_layout};
    const OperandTile b{Operand::b, g.b, config.shared_layout};
    for (const OperandTile* tile : {&a, &b})
        accesses.push_back(copy_access(tile->operand, tile->geometry, tile->layout, g.threads));
    for (const OperandTile* tile : {&a, &b})
        accesses.push_back(loads_words(tile->geometry) ? word_access(*tile, config, g)
                                                       : ldmatrix_access(*tile, config, g, atom));
}

std::vector<SharedAccess> mainloop_accesses(const GemmSignature& signature, const MmaMultistageConfig& config) {
    std::vector<SharedAccess> accesses;
    const MmaAtom* atom = atom_of(signature, config);
    if (atom != nullptr) add_mainloop(accesses, config, geometry(signature, config), *atom);
    return accesses;
}

/// Staged sums (rows × columns) read back vector by vector, a lane each. `times(first)` is how often the 32 vectors
/// from `first` on are read. The sums of a vector of pairs are twice as long, or two vectors of as many elements.
template <typename Times>
SharedAccess row_loads(std::string_view instruction, int rows, int columns, const TensorCoreGeometry& g,
                       EpiloguePairs pairs, const Times& times) {
    const bool in_halves = pairs == EpiloguePairs::halves;
    const int elements = g.vector_d * (pairs == EpiloguePairs::neighbours ? 2 : 1);
    const int vector_bytes = elements * g.staged_bytes;
    const int bytes = std::min(vector_bytes, kWidestAccess);
    const int vectors_per_row = elements > 0 ? columns / elements / (in_halves ? 2 : 1) : 0;
    const auto place_in_row = [&](int vector) {
        return in_halves ? static_cast<int>(first_sum_of(pairs, std::int64_t{vector} * elements)) * g.staged_bytes
                         : vector * vector_bytes;
    };
    const int vectors = rows * vectors_per_row;
    SharedAccess access;
    access.what = "epilogue load";
    access.instruction = fmt::format("{} of {} bytes", instruction, bytes);
    access.in_mainloop = false;
    for (int first = 0; first < vectors; first += kWarpLanes) {
        if (times(first) == 0) continue;
        for (int part = 0; part < vector_bytes; part += bytes) {
            const LaneAddresses addresses = lane_addresses([&](int lane) {
                const int vector = first + lane;
                if (vector >= vectors) return kInactiveLane;
                return vector / vectors_per_row * g.staged_pitch + place_in_row(vector % vectors_per_row) + part;
            });
            add_instruction(access, load_wavefronts(bytes, addresses), times(first) * (in_halves ? 2 : 1));
        }
    }
    explain_conflicts(access,
                      vector_bytes > kWidestAccess
                          ? fmt::format("vectors of {} bytes are read in parts of {}, so that lanes lie {} bytes apart",
                                        vector_bytes, bytes, vector_bytes)
                          : rows_share_banks(columns * g.staged_bytes, g.staged_pitch));
    return access;
}

/// The first block of a cluster reads every split_k-th vector of each thread's part of the tile, from its own shared
/// memory and its peers'.
SharedAccess cluster_load(const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    return row_loads("ld.shared::cluster", c.block.m, c.block.n, g, EpiloguePairs::none,
                     [&](int first) { return first / g.threads % c.split_k == 0 ? c.split_k : 0; });
}

/// Asked for every candidate, so what needs no counting isn't counted.
bool may_conflict(const MmaMultistageConfig& config) { return config.shared_layout != SharedLayout::swizzle; }

}  // namespace

SharedAccess copy_access(Operand operand, const OperandGeometry& g, SharedLayout layout, int threads) {
    const OperandTile tile{operand, g, layout};
    SharedAccess access;
    access.what = fmt::format("{} {}", g.async ? "cp.async" : "st.shared", to_string(operand));
    access.instruction = fmt::format("{} of {} bytes", g.async ? "cp.async" : "st.shared", g.vector_bytes);
    if (g.vectors_per_row == 0) return access;
    const int rows_per_pass = threads / g.vectors_per_row;
    for (int pass = 0; pass < g.passes; ++pass) {
        for (int first = 0; first < threads; first += kWarpLanes) {
            const LaneAddresses addresses = lane_addresses([&](int lane) {
                const int row = (first + lane) / g.vectors_per_row + pass * rows_per_pass;
                if (row >= g.tile_rows) return kInactiveLane;
                return tile.address(row, (first + lane) % g.vectors_per_row * g.vector_bytes);
            });
            add_instruction(access, vector_wavefronts(g.vector_bytes, addresses));
        }
    }
    explain_conflicts(access, rows_share_banks(g.row_bytes, g.pitch_bytes));
    return access;
}

SharedAccess epilogue_load(const TileShape& warp, const TileShape& mma, const TensorCoreGeometry& g,
                           EpiloguePairs pairs) {
    return row_loads("ld.shared", mma.m, warp.n, g, pairs, [&](int) { return g.tiles_m * g.threads / kWarpLanes; });
}

std::vector<SharedAccess> mma_multistage_shared_accesses(const GemmSignature& signature,
                                                         const MmaMultistageConfig& config) {
    std::vector<SharedAccess> accesses = mainloop_accesses(signature, config);
    if (accesses.empty()) return accesses;
    const TensorCoreGeometry g = geometry(signature, config);
    const MmaAtom& atom = *atom_of(signature, config);
    accesses.push_back(epilogue_store(config, g, atom));
    const EpiloguePairs staged_pairs = config.split_k > 1 ? EpiloguePairs::none : pairs_of(signature);
    accesses.push_back(config.splits_in_cluster() ? cluster_load(config, g)
                                                  : epilogue_load(config.warp, config.mma, g, staged_pairs));
    return accesses;
}

double mma_multistage_conflict_slowdown(const GemmSignature& signature, const MmaMultistageConfig& config) {
    if (!may_conflict(config)) return 1.0;
    return mainloop_slowdown(mainloop_accesses(signature, config));
}

std::vector<std::string> MmaMultistage::discouraged(const Problem& problem, const MmaMultistageConfig& c) {
    std::vector<std::string> reasons;
    const bool may_have_to_pack = needs_k_major(problem.row_major().a);
    if (!may_have_to_pack) reasons = wasteful_packing(problem.row_major(), c.pack);
    if (!may_conflict(c)) return reasons;
    std::ranges::move(conflict_reasons(mainloop_accesses(problem.signature, c)), std::back_inserter(reasons));
    return reasons;
}

}  // namespace jitgemm
