#include "runtime/context/kernel_map.hpp"

#include "runtime/context/context_state.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace jitgemm {
namespace {

/// The part of the problems that go together, so that the search for the oldest is rare.
constexpr std::size_t kPart = 16;

/// A problem's entries, one for each wording.
struct Remembered {
    const void* slot = nullptr;
    std::uint64_t last_use = 0;
    const GemmSpec* spec = nullptr;
    long users = 0;
};

}  // namespace

KernelMap::KernelMap(std::size_t most_problems)
    : most_(most_problems), full_at_(most_problems == 0 ? std::numeric_limits<std::size_t>::max() : most_problems) {
    entries_.reserve(2 * most_problems);  // later it would stop all requests
}

void KernelMap::touch(const Entry& entry) const {
    const std::uint64_t now = now_.load(std::memory_order_relaxed);
    if (entry.last_use.load(std::memory_order_relaxed) != now) entry.last_use.store(now, std::memory_order_relaxed);
}

std::optional<GemmKernel> KernelMap::find(const GemmSpec& spec) const {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(spec);
    if (found == entries_.end()) return std::nullopt;
    touch(*found);
    return found->kernel;
}

KernelMap::Added KernelMap::add(const GemmSpec& asked, const GemmSpec& resolved, const GemmKernel& kernel) {
    Added added;
    bool is_full = false;
    {
        const std::unique_lock lock(mutex_);
        auto of_problem = entries_.find(resolved);
        const bool is_new = of_problem == entries_.end();
        if (is_new) of_problem = entries_.emplace(resolved, kernel).first;
        added = {of_problem->kernel, is_new};
        if (is_new) {
            ++problems_;
            now_.fetch_add(1, std::memory_order_relaxed);
        }
        touch(*of_problem);
        auto of_words = entries_.find(asked);
        if (of_words == entries_.end()) of_words = entries_.emplace(asked, added.kernel).first;
        touch(*of_words);
        is_full = problems_ > full_at_;
    }
    if (is_full) forget_oldest();
    return added;
}

std::size_t KernelMap::problems() const {
    const std::shared_lock lock(mutex_);
    return problems_;
}

void KernelMap::forget_oldest() {
    const std::unique_lock one(forgetting_, std::try_to_lock);
    if (!one.owns_lock()) return;
    // Other threads may add more problems meanwhile than go.
    while (problems() > most_ && forget(oldest())) {
    }
    const std::unique_lock lock(mutex_);
    full_at_ = problems_ > most_ ? problems_ + most_ / kPart : most_;
}

/// All wordings of the problems that nobody else has a handle of and that were used least recently.
std::vector<GemmSpec> KernelMap::oldest() const {
    const std::shared_lock lock(mutex_);
    std::vector<Remembered> all;
    all.reserve(entries_.size());
    for (const Entry& entry : entries_)
        all.push_back({KernelAccess::identity(entry.kernel), entry.last_use.load(std::memory_order_relaxed),
                       &entry.words(), KernelAccess::users(entry.kernel)});
    std::ranges::sort(all, {}, &Remembered::slot);
    std::vector<std::pair<std::uint64_t, std::size_t>> spare;  // last use; first entry
    for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
        std::uint64_t last_use = 0;
        for (end = first; end < all.size() && all[end].slot == all[first].slot; ++end)
            last_use = std::max(last_use, all[end].last_use);
        if (all[first].users == static_cast<long>(end - first)) spare.emplace_back(last_use, first);
    }
    const std::size_t kept = most_ - most_ / kPart;
    const std::size_t count = std::min(spare.size(), problems_ > kept ? problems_ - kept : 0);
    if (count < spare.size()) std::ranges::nth_element(spare, spare.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<GemmSpec> specs;
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t at = spare[i].second; at < all.size() && all[at].slot == all[spare[i].second].slot; ++at)
            specs.push_back(*all[at].spec);
    return specs;
}

/// A kernel stays if somebody has taken a handle of it meanwhile. The others are destroyed after the lock is released.
bool KernelMap::forget(const std::vector<GemmSpec>& specs) {
    std::vector<Entries::node_type> gone;
    gone.reserve(specs.size());
    const std::unique_lock lock(mutex_);
    for (std::size_t first = 0, end = 0; first < specs.size(); first = end) {
        const auto kernel_of = [&](std::size_t i) { return KernelAccess::identity(entries_.find(specs[i])->kernel); };
        for (end = first; end < specs.size() && kernel_of(end) == kernel_of(first); ++end) {
        }
        if (KernelAccess::users(entries_.find(specs[first])->kernel) != static_cast<long>(end - first)) continue;
        for (std::size_t i = first; i < end; ++i) gone.push_back(entries_.extract(entries_.find(specs[i])));
        --problems_;
    }
    return !gone.empty();
}

}  // namespace jitgemm
