#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_set>
#include <vector>

namespace jitgemm {

/// The kernels of problems that were asked for, by spec. Thread-safe; find() is one look-up under a shared lock.
///
/// It holds `most_problems` problems, and any whose handle somebody else has, so that all handles of a problem are one
/// as long as there are any. Beyond that it forgets those used least recently. Time passes when a problem is added:
/// problems that were used between the same two additions are equally recent.
class KernelMap {
public:
    /// `most_problems` of 0: no limit.
    explicit KernelMap(std::size_t most_problems);

    [[nodiscard]] std::optional<GemmKernel> find(const GemmSpec& spec) const;

    struct Added {
        GemmKernel kernel;    ///< the first that was added for the problem
        bool is_new = false;  ///< it is the given one
    };
    /// Under the problem's own words (`resolved`) and those of the request.
    Added add(const GemmSpec& asked, const GemmSpec& resolved, const GemmKernel& kernel);
    [[nodiscard]] std::size_t problems() const;

private:
    /// A problem in the words of a request. Copies of specs are most of the memory that a problem takes, so an entry in
    /// the kernel's own words has none.
    struct Entry {
        Entry(const GemmSpec& of, const GemmKernel& by)
            : other_words(of == by.spec() ? nullptr : std::make_unique<const GemmSpec>(of)), kernel(by) {}
        [[nodiscard]] const GemmSpec& words() const { return other_words ? *other_words : kernel.spec(); }

        std::unique_ptr<const GemmSpec> other_words;
        GemmKernel kernel;
        mutable std::atomic<std::uint64_t> last_use = 0;
    };
    struct WordsHash {
        using is_transparent = void;
        std::size_t operator()(const GemmSpec& words) const noexcept { return std::hash<GemmSpec>()(words); }
        // No entry's kernel is empty, so words() does not throw. If a hash may throw, each node stores its value.
        // NOLINTNEXTLINE(bugprone-exception-escape)
        std::size_t operator()(const Entry& entry) const noexcept { return (*this)(entry.words()); }
    };
    struct SameWords {
        using is_transparent = void;
        bool operator()(const Entry& left, const Entry& right) const { return left.words() == right.words(); }
        bool operator()(const Entry& left, const GemmSpec& right) const { return left.words() == right; }
        bool operator()(const GemmSpec& left, const Entry& right) const { return left == right.words(); }
    };
    using Entries = std::unordered_set<Entry, WordsHash, SameWords>;

    void touch(const Entry& entry) const;
    void forget_oldest();
    [[nodiscard]] std::vector<GemmSpec> oldest() const;
    /// Whether any went.
    bool forget(const std::vector<GemmSpec>& specs);

    std::size_t most_;
    mutable std::shared_mutex mutex_;  ///< guards the next three
    Entries entries_;
    std::size_t problems_ = 0;
    std::size_t full_at_;  ///< problems at which the oldest are forgotten
    std::atomic<std::uint64_t> now_ = 0;
    std::mutex forgetting_;
};

}  // namespace jitgemm
