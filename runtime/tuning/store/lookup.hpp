#pragma once

#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/kernel_info.hpp"
#include "runtime/tuning/store/records.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace jitgemm::tuning {

/// Largest distance_between() a tuned problem and the requested one. 1.5 is a factor of 2.8 in one size, or of 1.8 in
/// three.
inline constexpr double kNearestLimit = 1.5;
/// Allowed ratio of a neighbour's predicted time to that of the heuristic's choice. Tiles and waves that came out even
/// there may not here. The model's own error on the neighbour comes on top.
inline constexpr double kNearestSlack = 1.05;
/// The same for an installed winner, whose problem may be far. It covers the difference between 128x256 and 256x128.
inline constexpr double kInstalledSlack = 1.02;

/// The limits that a selection sets to a search, in words: "family=simt_naive stages=4"; empty if it sets none.
[[nodiscard]] std::string narrowing(const Selection& selection);

/// A kernel for a request, and the reason for it.
struct TunedChoice {
    KernelConfig config;
    ChoiceSource source = ChoiceSource::heuristic;
    std::string reason;                       ///< a sentence for people, without its full stop
    std::optional<GemmSpec> tuned_spec = {};  ///< for a near problem: the one that was measured
    double distance = 0;                      ///< the distance to it
    double gain = 1;                          ///< the heuristic's time over its own, as measured; 1 if not known
};

/// A stored winner with its problem and its parsed kernel names.
struct KnownWinner {
    explicit KnownWinner(Winner winner);

    Winner record;  ///< its spec is problem.row_major()
    Problem problem;
    std::optional<KernelId> kernel;     ///< unset if this version does not know the name: unknown_kernel says why
    std::optional<KernelId> heuristic;  ///< the heuristic's kernel, in the same form
    std::string unknown_kernel = {};
};

/// Winners of a class of devices that come with the library. They include all that beat a kernel of this config.
using InstalledWinners = std::function<std::vector<Winner>(const KernelConfig& beaten)>;

/// The winners of one class of devices, by problem. Immutable: one object serves many threads.
///
/// The search that found a winner decides which problems it may serve:
/// - *Trusted* is one of a search that came to its end, with today's versions and the steady protocol, over the whole
///   space or kept to just what the request is kept to. Only such a one is an `exact` or `nearest` choice.
/// - A *hint* is any other of the steady protocol that was faster than the heuristic's kernel in the same rounds: its
///   whole interval lies below that kernel's time. It serves the very problem it was measured on, where the heuristic's
///   kernel of today is still the one that it beat; and near problems where nothing but its versions is amiss.
/// - An *installed* one comes with the library. It serves every problem of its types and layout for which the heuristic
///   chooses the kernel that it beat, if both kernels have block tiles of one size: the gain then lies in their code,
///   whatever the problem's size. A winner with another tile size serves near problems alone, since the tile may not
///   suit others.
/// - Any other winner (cold or hot operands, or no faster than the heuristic's kernel) serves no request. It is kept
///   for people who look at it, and to be measured again.
class TunedChoices {
public:
    TunedChoices() = default;
    /// The `winners` are of the device of choose(). `today` shows which are stale. `installed` gives winners of its
    /// class; unset: there are none.
    TunedChoices(const std::vector<Winner>& winners, Versions today, InstalledWinners installed = {});

    /// The first of these that exists: 1. the trusted winner of this problem; 2. a hint for it; 3. the heuristic's
    /// choice, if a search of this problem over the whole space timed it and found nothing faster; 4. the winner of the
    /// nearest tuned problem with the same types, layout, order of D, C and alignments, if its tiles and waves suit; 5.
    /// an installed winner; 6. the heuristic's choice. A kernel that breaks its family's constraints, or the selection,
    /// is passed over; the log has a line if it is this problem's own. Throws the errors of choose_config.
    [[nodiscard]] TunedChoice choose(const Problem& problem, const GpuModel& gpu,
                                     const Selection& selection = {}) const;
    /// The same with the heuristic's choice known; unset where that is the choice.
    [[nodiscard]] std::optional<TunedChoice> better_than(const KernelConfig& heuristic, const Problem& problem,
                                                         const GpuModel& gpu, const Selection& selection) const;
    [[nodiscard]] bool empty() const { return classes_.empty(); }
    [[nodiscard]] std::vector<const Problem*> tuned_problems() const;

private:
    struct Neighbour {
        const KnownWinner* winner;
        double distance;
        bool is_trusted;
    };
    struct Request {
        const Problem& problem;
        const GpuModel& gpu;
        const Selection& selection;
    };
    [[nodiscard]] std::optional<TunedChoice> exact(const Request& request) const;
    [[nodiscard]] std::optional<TunedChoice> hint(const Request& request, const KernelConfig& heuristic) const;
    [[nodiscard]] std::optional<TunedChoice> unbeaten(const Request& request, const KernelConfig& heuristic) const;
    [[nodiscard]] std::optional<TunedChoice> nearest(const Request& request, const KernelConfig& heuristic) const;
    [[nodiscard]] std::optional<TunedChoice> installed(const Request& request, const KernelConfig& heuristic) const;
    [[nodiscard]] std::multimap<double, KnownWinner> installed_over(const Request& request,
                                                                    const KernelConfig& heuristic) const;
    [[nodiscard]] std::vector<Neighbour> neighbours(const Request& request) const;
    [[nodiscard]] std::vector<const KnownWinner*> of_problem(const Problem& problem) const;
    [[nodiscard]] bool is_trusted(const Winner& winner, const Selection& selection) const;
    [[nodiscard]] std::string caveats(const Winner& winner) const;

    /// By class_of(): one kernel can serve all these problems.
    std::unordered_map<GemmSpec, std::vector<KnownWinner>> classes_;
    Versions today_;
    InstalledWinners installed_;
};

}  // namespace jitgemm::tuning
