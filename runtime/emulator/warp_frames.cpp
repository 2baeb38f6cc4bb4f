// Activations of functions: their registers, special registers and parameters, calls and returns.

#include "runtime/emulator/cluster.hpp"
#include "runtime/emulator/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace jitgemm::emulator {
namespace {

/// Moves bytes between the parameter spaces that a call connects.
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

/// Of a warp: 1 MiB for a thread, where CUDA's largest stack has half of it.
constexpr std::size_t kMostFrameBytes = std::size_t{32} << 20;

std::size_t bytes_of_frame(const Function& function) {
    const std::size_t registers = std::size_t{function.words} * 4 + std::size_t{function.doublewords} * 8;
    return (registers + static_cast<std::size_t>(function.parameter_bytes + function.local_bytes)) * kLanes;
}

}  // namespace

void Warp::push_frame(const Function& function, const Instruction* call) {
    std::size_t bytes = bytes_of_frame(function);
    for (const auto& active : frames_) bytes += bytes_of_frame(*active->function);
    if (bytes > kMostFrameBytes) {
        fail(FaultKind::unsupported,
             fmt::format("registers, parameters and local memory of {} nested activations take more than {} bytes",
                         frames_.size() + 1, kMostFrameBytes));
    }
    auto frame = std::make_unique<Frame>();
    frame->function = &function;
    frame->call = call;
    frame->words.reserve(std::size_t{function.words} * kLanes);
    for (const std::uint32_t word : function.unwritten_words) frame->words.insert(frame->words.end(), kLanes, word);
    frame->words.resize(std::size_t{function.words} * kLanes);
    frame->doublewords.resize(std::size_t{function.doublewords} * kLanes, kUnwrittenRegister);
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
    if (special.special == Special::is_explicit_cluster) {
        frame().predicates[special.row] = launch_.cluster.given ? kAllLanes : 0;
        return;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::size_t index = std::size_t{special.row} * kLanes + static_cast<std::size_t>(lane);
        if (special.special == Special::local_address) {
            const std::int64_t address = frame().local_base + special.addend;
            frame().doublewords[index] = static_cast<std::uint64_t>(address);
        } else {
            frame().words[index] = special_value(special.special, lane);
        }
    }
}

/// x, y and z of a special register, named by its x.
std::array<std::int64_t, 3> Warp::special_triple(Special x, int lane) const {
    switch (x) {
        case Special::tid_x: return block_.thread_id(index_ * kLanes + lane);
        case Special::ntid_x: return launch_.config.block;
        case Special::ctaid_x: return block_.id();
        case Special::nctaid_x: return launch_.config.grid;
        case Special::cluster_ctaid_x: return unflatten(block_.rank(), launch_.cluster.extents);
        case Special::cluster_nctaid_x: return launch_.cluster.extents;
        case Special::clusterid_x: return block_.cluster().id();
        default: return launch_.clusters();  // nclusterid_x
    }
}

std::uint32_t Warp::special_value(Special special, int lane) const {
    if (special < kFirstScalarSpecial) {
        const auto index = static_cast<std::size_t>(special);
        const auto x = static_cast<Special>(index - index % kSpecialAxes);
        return static_cast<std::uint32_t>(special_triple(x, lane).at(index % kSpecialAxes));
    }
    const Mask own = Mask{1} << static_cast<unsigned>(lane);
    switch (special) {
        case Special::laneid: return static_cast<std::uint32_t>(lane);
        case Special::warpid: return static_cast<std::uint32_t>(index_);
        case Special::nwarpid: return static_cast<std::uint32_t>(launch_.warps_per_block());
        case Special::warp_size: return kLanes;
        case Special::lanemask_eq: return own;
        case Special::lanemask_lt: return own - 1;
        case Special::lanemask_le: return own | (own - 1);
        case Special::lanemask_gt: return ~(own | (own - 1));
        case Special::lanemask_ge: return ~(own - 1);
        case Special::dynamic_shared_bytes: return static_cast<std::uint32_t>(launch_.config.shared_bytes);
        case Special::total_shared_bytes: return static_cast<std::uint32_t>(block_.shared().bytes());
        case Special::cluster_ctarank: return static_cast<std::uint32_t>(block_.rank());
        case Special::cluster_nctarank: return static_cast<std::uint32_t>(launch_.cluster.blocks());
        default: break;  // of other banks
    }
    return 0;
}

}  // namespace jitgemm::emulator
