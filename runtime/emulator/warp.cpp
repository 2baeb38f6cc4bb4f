#include "runtime/emulator/warp.hpp"

#include "runtime/emulator/block.hpp"

#include <fmt/format.h>

namespace jitgemm::emulator {

Warp::Warp(Block& block, int index, Mask lanes)
    : block_(block),
      launch_(block.launch()),
      index_(index),
      number_(block.first_warp() + index),
      lanes_(lanes),
      live_(lanes),
      code_(launch_.program.code().data()),
      current_(code_),
      active_(lanes),
      constant_words_(launch_.program.decoded().constant_words.data()),
      constant_doublewords_(launch_.constant_doublewords.data()),
      tallies_(block.tallies().data()),
      copies_(block.shared(), launch_.config.async_mode),
      bulk_stores_(block.shared(), launch_) {
    push_frame(launch_.entry, nullptr);
    pc_ = launch_.entry.first;
}

std::uint64_t Warp::run(std::uint64_t steps) {
    std::uint64_t done = 0;
    try {
        for (; done < steps && state_ == State::ready; ++done) step();
    } catch (const AccessFault& fault) {
        fail(fault.kind, fault.text, fault.lane >= 0 ? fault.lane : lane_);
    }
    return done;
}

void Warp::step() {
    const Instruction& instruction = code_[pc_];
    current_ = &instruction;
    lane_ = -1;
    Mask mask = active_;
    if (instruction.guarded) {
        if (instruction.tracked) require_written({.bank = Bank::predicates, .row = instruction.guard}, active_);
        const Mask guard = predicates_[instruction.guard];
        mask &= instruction.guard_negated ? ~guard : guard;
    }
    ++pc_;
    if (mask != 0) {
        const auto lanes = mask == kAllLanes ? std::uint64_t{kLanes} : static_cast<std::uint64_t>(std::popcount(mask));
        Tally& counted = tallies_[instruction.index];
        ++counted.warps;
        counted.lanes += lanes;
        lane_instructions_ += lanes;
        if (instruction.tracked) check_registers(instruction, mask);
        if (warpgroup_sums_.registers().watching() && !instruction.keeps_registers && in_entry())
            warpgroup_sums_.registers().touch(*this, instruction);
        instruction.execute(*this, instruction, mask);
        if (instruction.tracked) mark_registers(instruction, mask);
    }
    if (pc_ == reconvergence_) rejoin();
}

// ---- control --------------------------------------------------------------------------------------------------------

void Warp::branch(const Instruction& instruction, Mask taken) {
    const Mask others = active_ & ~taken;
    if (others == 0) {
        pc_ = instruction.target;
        return;
    }
    std::vector<Suspended>& suspended = frame().suspended;
    // Lanes of a loop that leave it one by one meet where those before them wait: one entry serves them all.
    if (instruction.reconvergence != reconvergence_) {
        suspended.push_back({instruction.reconvergence, reconvergence_, active_});
    }
    suspended.push_back({pc_, instruction.reconvergence, others});
    pc_ = instruction.target;
    reconvergence_ = instruction.reconvergence;
    active_ = taken;
}

void Warp::rejoin() {
    while (pc_ == reconvergence_ && pop_suspended()) {
    }
}

/// Goes on with the lanes suspended last that are still alive; false when there are none in this activation.
bool Warp::pop_suspended() {
    std::vector<Suspended>& suspended = frame().suspended;
    while (!suspended.empty()) {
        const Suspended next = suspended.back();
        suspended.pop_back();
        if (next.mask == 0) continue;
        pc_ = next.pc;
        reconvergence_ = next.reconvergence;
        active_ = next.mask;
        return true;
    }
    return false;
}

void Warp::wait_and_retry(Mask mask) {
    const auto lanes = static_cast<std::uint64_t>(std::popcount(mask));
    --tally().warps;
    tally().lanes -= lanes;
    lane_instructions_ -= lanes;
    pc_ = current_->index;
    wait();
}

void Warp::exit(Mask mask) {
    copies_.wait_all(mask);
    bulk_stores_.end(mask);
    live_ &= ~mask;
    active_ &= ~mask;
    for (const auto& frame : frames_) {
        frame->active &= ~mask;
        for (Suspended& suspended : frame->suspended) suspended.mask &= ~mask;
    }
    if (live_ == 0) {
        warpgroup_sums_.check_end();
        block_.warpgroup_steps().warp_ended(*this);
        state_ = State::finished;
        block_.warp_ended();
        return;
    }
    while (active_ == 0 && !pop_suspended()) pop_frame();
    rejoin();
}

void Warp::return_from_function(Mask mask) {
    if (in_entry()) return exit(mask);
    active_ &= ~mask;
    for (Suspended& suspended : frame().suspended) suspended.mask &= ~mask;
    while (active_ == 0 && !pop_suspended()) pop_frame();
    rejoin();
}

// ---- reads of registers never written -------------------------------------------------------------------------------

Mask* Warp::written(const Value& value) {
    switch (value.bank) {
        case Bank::words: return &frame().written_words[value.row];
        case Bank::doublewords: return &frame().written_doublewords[value.row];
        case Bank::predicates: return &frame().written_predicates[value.row];
        default: return nullptr;
    }
}

void Warp::require_written(const Value& value, Mask mask) {
    const Mask* lanes = written(value);
    if (lanes == nullptr || (mask & ~*lanes) == 0) return;
    if (!launch_.config.checks.registers_written) return;
    const int lane = std::countr_zero(mask & ~*lanes);
    fail(FaultKind::never_written_register,
         fmt::format("reads register {}, which this thread has never written",
                     launch_.program.register_name(*current_, value)),
         lane);
}

void Warp::check_registers(const Instruction& instruction, Mask mask) {
    if (instruction.unwritten == UnwrittenSource::copied) return;
    const std::size_t selector = instruction.values.size() - 1;
    const bool adds = instruction.unwritten == UnwrittenSource::added_to;
    const std::size_t first =
        adds || instruction.unwritten == UnwrittenSource::fault ? std::size_t{instruction.destinations} : selector;
    for (std::size_t i = first; i < instruction.values.size(); ++i) {
        require_written(instruction.values[i], mask);
    }
    if (!adds) return;
    const Mask adding = mask & predicate(instruction.values.back());
    for (std::size_t i = 0; i < instruction.destinations; ++i) require_written(instruction.values[i], adding);
}

Mask Warp::result_written(const Instruction& instruction) {
    const auto source = [&](std::size_t i) {
        const Mask* lanes = written(instruction.values[i]);
        return lanes == nullptr ? kAllLanes : *lanes;
    };
    switch (instruction.unwritten) {
        case UnwrittenSource::copied: return source(1);
        case UnwrittenSource::mixed: return source(1) | source(2);
        case UnwrittenSource::selected: {
            const Mask first = predicate(instruction.values[3]);
            return (first & source(1)) | (~first & source(2));
        }
        default: return kAllLanes;
    }
}

void Warp::mark_registers(const Instruction& instruction, Mask mask) {
    const Mask result = result_written(instruction);
    for (std::size_t i = 0; i < instruction.destinations; ++i) {
        Mask* lanes = written(instruction.values[i]);
        if (lanes == nullptr) continue;
        *lanes = (*lanes & ~mask) | (mask & result);
    }
}

// ---- faults ---------------------------------------------------------------------------------------------------------

void Warp::fail(FaultKind kind, const std::string& text, int lane) const {
    std::string who = fmt::format("warp {}", index_);
    if (lane >= 0) {
        const auto thread = block_.thread_id(index_ * kLanes + lane);
        who = fmt::format("thread ({},{},{})", thread[0], thread[1], thread[2]);
    }
    throw EmulatorFault(kind, fmt::format("{}: {} of {}: {}\n  at {}", to_string(kind), who, block_.name(), text,
                                          launch_.program.place(*current_)));
}

void Warp::require_converged(Mask mask, const char* what) const {
    if (mask == lanes_ && lanes_ == kAllLanes) return;
    fail(FaultKind::barrier_divergence,
         fmt::format("{} needs all 32 threads of the warp together; executed by lanes {:#010x}, alive are {:#010x}",
                     what, mask, live_));
}

}  // namespace jitgemm::emulator
