#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/options.hpp"
#include "runtime/device/device.hpp"
#include "runtime/tuning/store/records.hpp"

#include <functional>
#include <memory>
#include <string>

namespace jitgemm {

/// Tunes single problems for a context. It is thread-safe. A context only asks for a search. The search itself belongs
/// to the rooms above (runtime/tuning/sweep/context_tuner.hpp).
class Tuner {
public:
    /// Told how a search ended: its winner, or why there is none.
    using Ended = std::function<void(const tuning::Winner* winner, const std::string& failure)>;

    Tuner() = default;
    Tuner(const Tuner&) = delete;
    Tuner& operator=(const Tuner&) = delete;
    /// Ends what is being tuned; those still waiting are told so.
    virtual ~Tuner() = default;
    /// Throws Error saying why there is no winner: no tool, nowhere to keep records, no candidate that works.
    [[nodiscard]] virtual tuning::Winner tune(const GemmSpec& resolved_spec) = 0;
    /// The same on a thread of this object, which calls `ended` once. A problem that waits already is tuned once.
    virtual void tune_later(const GemmSpec& resolved_spec, Ended ended) = 0;
};

[[nodiscard]] std::unique_ptr<Tuner> make_tuner(const Options& options, const Device& device);

}  // namespace jitgemm
