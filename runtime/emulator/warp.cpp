#include "runtime/emulator/warp.hpp"

#include "runtime/emulator/address_space.hpp"
#include "runtime/emulator/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace jitgemm::emulator {

Warp::Warp(Block& block, int index, Mask lanes)
    : block_(block),
      launch_(block.launch()),
      index_(index),
      lanes_(lanes),
      live_(lanes),
      code_(launch_.program.code().data()),
      current_(code_),
      active_(lanes),
      constant_words_(launch_.program.decoded().constant_words.data()),
      constant_doublewords_(launch_.constant_doublewords.data()),
      tallies_(block.tallies().data()),
      copies_(block.shared(), launch_.config.async_mode) {
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

void Warp::exit(Mask mask) {
    copies_.wait_all(mask);
    live_ &= ~mask;
    active_ &= ~mask;
    for (const auto& frame : frames_) {
        frame->active &= ~mask;
        for (Suspended& suspended : frame->suspended) suspended.mask &= ~mask;
    }
    if (live_ == 0) {
        state_ = State::finished;
        block_.barriers().warp_ended();
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

// ---- activations ----------------------------------------------------------------------------------------------------

void Warp::push_frame(const Function& function, const Instruction* call) {
    auto frame = std::make_unique<Frame>();
    frame->function = &function;
    frame->call = call;
    frame->words.resize(std::size_t{function.words} * kLanes);
    frame->doublewords.resize(std::size_t{function.doublewords} * kLanes);
    frame->predicates.resize(function.predicates);
    frame->parameters.resize(static_cast<std::size_t>(function.parameter_bytes) * kLanes);
    if (!function.tracked.empty()) {
        frame->written_words.resize(function.words, kAllLanes);
        frame->written_doublewords.resize(function.doublewords, kAllLanes);
        frame->written_predicates.resize(function.predicates, kAllLanes);
    }
    if (!frames_.empty()) frame->local_base = this->frame().local_base + this->frame().function->local_bytes;
    const auto local_bytes = static_cast<std::size_t>(frame->local_base + function.local_bytes);
    for (std::vector<std::byte>& local : local_) local.resize(std::max(local.size(), local_bytes));
    frames_.push_back(std::move(frame));
    bind_frame();
    for (const Value& tracked : function.tracked) *written(tracked) = 0;
    for (const SpecialRow& special : function.specials) fill_special(special);
}

void Warp::bind_frame() {
    words_ = frame().words.data();
    doublewords_ = frame().doublewords.data();
    predicates_ = frame().predicates.data();
}

/// What a call instruction knows of the two parameter spaces it connects: bytes move from `from` to `to`.
namespace {
void copy_parameters(const std::vector<ParameterMove>& moves, const Frame& from, Frame& to, Mask mask) {
    const auto from_bytes = static_cast<std::size_t>(from.function->parameter_bytes);
    const auto to_bytes = static_cast<std::size_t>(to.function->parameter_bytes);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if ((mask >> lane & 1U) == 0) continue;
        for (const ParameterMove& move : moves) {
            std::memcpy(to.parameters.data() + lane * to_bytes + static_cast<std::size_t>(move.to),
                        from.parameters.data() + lane * from_bytes + static_cast<std::size_t>(move.from),
                        static_cast<std::size_t>(move.bytes));
        }
    }
}
}  // namespace

void Warp::call(const Instruction& instruction, Mask mask) {
    constexpr std::size_t kDeepest = 1024;
    if (frames_.size() >= kDeepest) fail(FaultKind::unsupported, "calls are nested more than 1024 deep");
    const auto& site = instruction.detail<CallSite>();
    Frame& caller = frame();
    const Mask others = active_ & ~mask;
    if (others != 0) {  // they wait behind the call, as at a branch around it
        caller.suspended.push_back({pc_, reconvergence_, active_});
        reconvergence_ = pc_;
    }
    caller.pc = pc_;
    caller.reconvergence = reconvergence_;
    caller.active = mask;
    push_frame(launch_.program.decoded().functions[site.function], &instruction);
    copy_parameters(site.arguments, caller, frame(), mask);
    pc_ = frame().function->first;
    reconvergence_ = kNoReconvergence;
    active_ = mask;
}

/// Back to the caller, with results for its lanes that still live.
void Warp::pop_frame() {
    const std::unique_ptr<Frame> done = std::move(frames_.back());
    frames_.pop_back();
    bind_frame();
    Frame& caller = frame();
    pc_ = caller.pc;
    reconvergence_ = caller.reconvergence;
    active_ = caller.active;
    copy_parameters(done->call->detail<CallSite>().results, *done, caller, active_);
}

void Warp::fill_special(const SpecialRow& special) {
    for (int lane = 0; lane < kLanes; ++lane) {
        if (special.special == Special::local_address) {
            const std::int64_t address = frame().local_base + special.addend;
            frame().doublewords[std::size_t{special.row} * kLanes + static_cast<std::size_t>(lane)] =
                static_cast<std::uint64_t>(address);
        } else {
            frame().words[std::size_t{special.row} * kLanes + static_cast<std::size_t>(lane)] =
                special_value(special.special, lane);
        }
    }
}

std::uint32_t Warp::special_value(Special special, int lane) const {
    const LaunchConfig& config = launch_.config;
    const auto own_thread = block_.thread_id(index_ * kLanes + lane);
    const auto axis = [](const std::array<std::int64_t, 3>& extents, Special which, Special first) {
        return static_cast<std::uint32_t>(
            extents.at(static_cast<std::size_t>(which) - static_cast<std::size_t>(first)));
    };
    const Mask own = Mask{1} << static_cast<unsigned>(lane);
    switch (special) {
        case Special::tid_x:
        case Special::tid_y:
        case Special::tid_z: return axis(own_thread, special, Special::tid_x);
        case Special::ntid_x:
        case Special::ntid_y:
        case Special::ntid_z: return axis(config.block, special, Special::ntid_x);
        case Special::ctaid_x:
        case Special::ctaid_y:
        case Special::ctaid_z: return axis(block_.id(), special, Special::ctaid_x);
        case Special::nctaid_x:
        case Special::nctaid_y:
        case Special::nctaid_z: return axis(config.grid, special, Special::nctaid_x);
        case Special::laneid: return static_cast<std::uint32_t>(lane);
        case Special::warpid: return static_cast<std::uint32_t>(index_);
        case Special::nwarpid: return static_cast<std::uint32_t>((block_.threads() + kLanes - 1) / kLanes);
        case Special::warp_size: return kLanes;
        case Special::lanemask_eq: return own;
        case Special::lanemask_lt: return own - 1;
        case Special::lanemask_le: return own | (own - 1);
        case Special::lanemask_gt: return ~(own | (own - 1));
        case Special::lanemask_ge: return ~(own - 1);
        case Special::dynamic_shared_bytes: return static_cast<std::uint32_t>(config.shared_bytes);
        case Special::total_shared_bytes: return static_cast<std::uint32_t>(block_.shared().bytes());
        case Special::local_address: break;
    }
    return 0;
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
    if (instruction.propagates_unwritten) return;
    for (std::size_t i = instruction.destinations; i < instruction.values.size(); ++i) {
        require_written(instruction.values[i], mask);
    }
}

void Warp::mark_registers(const Instruction& instruction, Mask mask) {
    for (std::size_t i = 0; i < instruction.destinations; ++i) {
        Mask* lanes = written(instruction.values[i]);
        if (lanes == nullptr) continue;
        const Mask* source = instruction.propagates_unwritten ? written(instruction.values[1]) : nullptr;
        *lanes = (*lanes & ~mask) | (source == nullptr ? mask : mask & *source);
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
