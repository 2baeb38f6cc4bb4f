#include "runtime/tuning/search/strategies.hpp"

namespace jitgemm::tuning {
namespace {

constexpr std::size_t kBatchSize = 32;  // enough to keep every compiling core busy while others are timed

/// Everything, in predicted order.
class Exhaustive : public Strategy {
public:
    Exhaustive(const SearchSpace& space, const SearchLimits& limits)
        : space_(space),
          limit_(limits.max_candidates > 0 ? static_cast<std::size_t>(limits.max_candidates) : space_.size()) {}

    [[nodiscard]] std::vector<std::string> propose(const std::vector<Trial>& known) const override {
        const Progress progress = space_.progress(known);
        std::vector<std::size_t> batch;
        for (std::size_t i = 0; i < space_.size(); ++i) {
            if (batch.size() == kBatchSize || progress.tries + batch.size() >= limit_) break;
            if (!progress.tried[i]) batch.push_back(i);
        }
        return space_.names(batch);
    }

private:
    IndexedSpace space_;
    std::size_t limit_;
};

}  // namespace

std::unique_ptr<Strategy> make_exhaustive(const SearchSpace& space, const SearchLimits& limits) {
    return std::make_unique<Exhaustive>(space, limits);
}

}  // namespace jitgemm::tuning
