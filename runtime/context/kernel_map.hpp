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
#include <unordered_map>
#include <utility>
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
    /// A spec, its own or that of a kernel which lives as long as the key. Copies of a spec are most of the memory that
    /// a problem takes.
    class Key {
    public:
        explicit Key(const GemmSpec* borrowed) : spec_(borrowed) {}
        explicit Key(const GemmSpec& copied) : own_(std::make_unique<const GemmSpec>(copied)), spec_(own_.get()) {}
        [[nodiscard]] const GemmSpec& spec() const { return *spec_; }
        friend bool operator==(const Key& left, const Key& right) { return left.spec() == right.spec(); }

    private:
        std::unique_ptr<const GemmSpec> own_;
        const GemmSpec* spec_;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const noexcept { return std::hash<GemmSpec>()(key.spec()); }
    };
    struct Entry {
        explicit Entry(GemmKernel of) : kernel(std::move(of)) {}
        GemmKernel kernel;
        mutable std::atomic<std::uint64_t> last_use = 0;
    };
    using Entries = std::unordered_map<Key, Entry, KeyHash>;

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
