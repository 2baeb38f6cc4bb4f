#include "generator/layout/tiled_mma.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

constexpr std::int64_t kMostThreads = 1024;  // of a block
constexpr std::int64_t kLongestTile = std::int64_t{1} << 16;
constexpr std::array kModeNames{'M', 'N', 'K'};

int extent(TileShape shape, int mode) {
    if (mode == 0) return shape.m;
    return mode == 1 ? shape.n : shape.k;
}

/// Which two of M, N and K an operand spans: A (M,K), B (N,K), C (M,N).
struct OperandModes {
    int rows;
    int columns;
};

OperandModes modes_of(Operand operand) {
    if (operand == Operand::a) return {0, 2};
    return operand == Operand::b ? OperandModes{1, 2} : OperandModes{0, 1};
}

void require_warps(const Layout& warps) {
    if (warps.rank() != 3)
        throw LayoutError(fmt::format("the warps {} are not a layout of (m, n, k)", to_string(warps)));
    if (right_inverse(warps).size() != warps.size() || warps.cosize() != warps.size())
        throw LayoutError(
            fmt::format("the warps {} are not numbered 0 to {}, each once", to_string(warps), warps.size() - 1));
}

/// Returns the tile that one pass of all warps covers, or the given permutation, which must hold whole passes.
Layout permutation_of(const MmaAtom& atom, const Layout& warps, const Tiler& wanted, int mode) {
    const std::int64_t pass = extent(atom.shape, mode) * warps.size(mode);
    if (wanted.by_mode())
        throw LayoutError(
            fmt::format("the permutation of {} is no layout", kModeNames[static_cast<std::size_t>(mode)]));
    if (!wanted.layout()) return Layout(IntTuple(pass));
    if (wanted.layout()->size() % pass != 0)
        throw LayoutError(fmt::format("{}: the permutation {} has {} elements, no multiple of the {} of {} atoms of {}",
                                      kModeNames[static_cast<std::size_t>(mode)], to_string(*wanted.layout()),
                                      wanted.layout()->size(), pass, warps.size(mode), extent(atom.shape, mode)));
    return *wanted.layout();
}

/// Before anything is counted out thread by thread and value by value.
void require_size(const MmaAtom& atom, const Layout& warps, const std::array<Layout, 3>& permutation) {
    if (warps.size() > kMostThreads / atom.threads())
        throw LayoutError(
            fmt::format("{} x {} threads are more than the {} of a block", warps.size(), atom.threads(), kMostThreads));
    for (std::size_t mode = 0; mode < permutation.size(); ++mode) {
        if (permutation[mode].size() > kLongestTile)
            throw LayoutError(fmt::format("a tile of {} along {} is longer than {}", permutation[mode].size(),
                                          kModeNames[mode], kLongestTile));
    }
}

/// The permutation tile of this number of repetitions.
std::array<Tiler, 3> repeated(const MmaAtom& atom, const Layout& warps, TileShape repetitions) {
    require_warps(warps);
    std::array<Tiler, 3> permutation;
    for (int mode = 0; mode < 3; ++mode) {
        const int times = extent(repetitions, mode);
        if (times < 1)
            throw LayoutError(fmt::format("{} repetitions along {}: there must be at least 1", times,
                                          kModeNames[static_cast<std::size_t>(mode)]));
        permutation[static_cast<std::size_t>(mode)] = extent(atom.shape, mode) * warps.size(mode) * times;
    }
    return permutation;
}

/// thread → its index in (ThrV,ThrM,ThrN,ThrK), whatever order the layout numbers threads in.
Layout thread_to_vmnk(const Layout& threads_vmnk) {
    return composition(Layout(pair_of(threads_vmnk.size(), 1), pair_of(1, 0)),
                       right_inverse(make_layout({threads_vmnk, complement(threads_vmnk)})));
}

}  // namespace

TiledMma::TiledMma(MmaAtom atom, Layout warps, const std::array<Tiler, 3>& permutation)
    : atom_(std::move(atom)), warps_(std::move(warps)) {
    require_warps(warps_);
    for (int mode = 0; mode < 3; ++mode) {
        const auto index = static_cast<std::size_t>(mode);
        permutation_[index] = permutation_of(atom_, warps_, permutation[index], mode);
    }
    require_size(atom_, warps_, permutation_);
    threads_vmnk_ = tiled_product(Layout(IntTuple(atom_.threads())), warps_);
}

TiledMma::TiledMma(const MmaAtom& atom, const Layout& warps, TileShape repetitions)
    : TiledMma(atom, warps, repeated(atom, warps, repetitions)) {}

TileShape TiledMma::tile() const {
    const auto size = [&](int mode) { return static_cast<int>(permutation(mode).size()); };
    return {size(0), size(1), size(2)};
}

Layout TiledMma::thread_fragments(Operand operand, const Layout& tensor) const {
    const auto [rows, columns] = modes_of(operand);
    const Layout permuted = logical_divide(tensor, by_mode(permutation(rows), permutation(columns)));
    const Layout atoms = zipped_divide(permuted, by_mode(extent(atom_.shape, rows), extent(atom_.shape, columns)));
    const Layout by_value = composition(atoms, by_mode(atom_.layout(operand).layout(), {}));
    const Layout warps = zipped_divide(by_value.mode(1), by_mode(warps_.size(rows), warps_.size(columns)));
    const Layout fragment = by_value.mode(0);
    return make_layout(
        {make_layout({fragment.mode(0), warps.mode(0)}), make_layout({fragment.mode(1), warps.mode(1)})});
}

TvLayout TiledMma::layout_tv(Operand operand) const {
    const auto [rows, columns] = modes_of(operand);
    const std::int64_t row_count = permutation(rows).size(), column_count = permutation(columns).size();
    Layout fragments = thread_fragments(operand, Layout(pair_of(row_count, column_count)));
    const std::int64_t m = warps_.size(0), n = warps_.size(1), k = warps_.size(2);
    // Warps along the mode that the operand lacks share it: (ThrV,(ThrR,ThrC)) of (ThrV,(ThrM,ThrN,ThrK)).
    if (operand == Operand::c && k > 1) {
        const Layout of_mnk(std::vector<IntTuple>{m, n, k}, std::vector<IntTuple>{1, m, 0});
        fragments = composition(fragments, by_mode(by_mode({}, of_mnk), {}));
    } else if (operand != Operand::c) {
        const Layout of_mn(pair_of(m, n), operand == Operand::a ? pair_of(1, 0) : pair_of(0, 1));
        fragments = composition(fragments, by_mode(by_mode({}, by_mode(of_mn, {})), {}));
    }
    return {composition(fragments, by_mode(thread_to_vmnk(threads_vmnk_), {})), static_cast<int>(row_count),
            static_cast<int>(column_count)};
}

Slice TiledMma::partition(Operand operand, const Layout& tensor, int thread) const {
    if (thread < 0 || thread >= threads())
        throw LayoutError(fmt::format("thread {} of {}: there is none", thread, threads()));
    const auto [rows, columns] = modes_of(operand);
    const IntTuple vmnk = index_to_coordinate(thread_to_vmnk(threads_vmnk_)(thread), threads_vmnk_.shape());
    const auto warp_along = [&](int mode) {
        const IntTuple& at = vmnk.mode(mode + 1);
        return Layout(threads_vmnk_.shape().mode(mode + 1))(at);
    };
    const IntTuple owner = pair_of(vmnk.mode(0), pair_of(warp_along(rows), warp_along(columns)));
    const IntTuple all = IntTuple::underscore();
    return slice(thread_fragments(operand, tensor), pair_of(owner, pair_of(all, pair_of(all, all))));
}

}  // namespace jitgemm
