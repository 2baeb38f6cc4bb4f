#include "runtime/emulator/mbarriers.hpp"

#include "runtime/emulator/bulk_copy.hpp"
#include "runtime/emulator/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace jitgemm::emulator {
namespace {

[[noreturn]] void misuse(const std::string& text) { throw AccessFault{FaultKind::mbarrier, text}; }

std::string name_of_mbarrier(std::uint32_t offset) {
    return fmt::format("the mbarrier at offset {} of shared memory", offset);
}

}  // namespace

// ---- counts ---------------------------------------------------------------------------------------------------------

MbarrierCount::MbarrierCount(std::int64_t arrivals) : arrivals_(arrivals), missing_(arrivals) {
    if (arrivals < 1 || arrivals > kMost) misuse(fmt::format("an mbarrier for {} arrivals: 1 to {}", arrivals, kMost));
}

bool MbarrierCount::arrive(std::int64_t count) {
    if (count < 1 || count > kMost) misuse(fmt::format("{} arrivals at once: 1 to {}", count, kMost));
    if (count > missing_) misuse(fmt::format("{} arrivals more, where {}", count, describe()));
    missing_ -= count;
    return complete_if_done();
}

bool MbarrierCount::expect(std::int64_t bytes) {
    if (bytes_ + bytes < -kMost || bytes_ + bytes > kMost) {
        misuse(fmt::format("{} bytes more are {}, where {}: an mbarrier counts up to {}", std::abs(bytes),
                           bytes < 0 ? "there" : "expected", describe(), kMost));
    }
    bytes_ += bytes;
    return complete_if_done();
}

bool MbarrierCount::complete_if_done() {
    if (missing_ != 0 || bytes_ != 0) return false;
    missing_ = arrivals_;
    ++phase_;
    return true;
}

std::string MbarrierCount::describe() const {
    return fmt::format("phase {} lacks {} of {} arrivals and {}", phase_, missing_, arrivals_,
                       bytes_ >= 0 ? fmt::format("{} bytes", bytes_)
                                   : fmt::format("has {} bytes that no thread has expected yet", -bytes_));
}

// ---- what threads do ------------------------------------------------------------------------------------------------

void Mbarriers::init(const Accessor& who, std::uint32_t offset, std::int64_t arrivals) {
    if (!block_.shared().in_range(offset, 8, 8)) misuse("an mbarrier beyond shared memory");  // bounds are not checked
    MbarrierCount count(arrivals);
    block_.shared().place_mbarrier(who, offset);
    mbarriers_.insert_or_assign(offset, Mbarrier{.count = count, .maker = who, .made = block_.cluster().order().now()});
}

void Mbarriers::invalidate(const Accessor& who, std::uint32_t offset) {
    const Mbarrier& own = find(who, offset);
    if (!own.in_transit.empty()) misuse(name_of_mbarrier(offset) + " is invalidated while a copy to it is in flight");
    block_.shared().remove_mbarrier(who, offset);
    mbarriers_.erase(offset);
}

void Mbarriers::fence_init(const Warp& warp) {
    for (auto& [offset, own] : mbarriers_) {
        if (own.maker.warp != warp.number() || own.fenced != 0) continue;
        own.fenced = block_.cluster().barrier().next_completion(warp);
    }
}

std::uint64_t Mbarriers::arrive(const Accessor& who, std::uint32_t offset, std::int64_t count, bool releases) {
    Mbarrier& own = find(who, offset);
    const std::uint64_t phase = own.count.phase();
    block_.shared().note_arrival(who);
    if (releases) block_.cluster().order().give(who.warp, own.gathering);
    if (own.count.arrive(count)) {
        complete(offset, own);
        note_seen(who, own);
    }
    return phase;
}

void Mbarriers::expect(const Accessor& who, std::uint32_t offset, std::int64_t bytes) {
    Mbarrier& own = find(who, offset);
    if (!own.count.expect(bytes)) return;
    complete(offset, own);
    note_seen(who, own);
}

bool Mbarriers::is_complete(const Accessor& who, std::uint32_t offset, const PhaseQuery& query, bool acquires) {
    Mbarrier& own = find(who, offset);
    const std::uint64_t phase = own.count.phase();
    if (query.parity && query.value > 1) misuse(fmt::format("a phase parity of {}: 0 or 1", query.value));
    if (!query.parity && query.value != phase && query.value + 1 != phase) {
        misuse(fmt::format("a state of phase {}, where {}: only the last one may be asked about", query.value,
                           own.count.describe()));
    }
    if (query.parity) require_unambiguous(who, own, offset, query.value);
    const bool complete = query.parity ? phase % 2 != query.value : query.value != phase;
    if (complete && acquires) observe(who, own);
    if (complete) note_seen(who, own);
    return complete;
}

// ---- parity ---------------------------------------------------------------------------------------------------------

void Mbarriers::note_seen(const Accessor& who, Mbarrier& own) {
    std::vector<std::uint32_t>& seen = own.seen.at(own.count.phase() % 2);
    const auto warp = static_cast<std::size_t>(who.warp);
    if (seen.size() <= warp) seen.resize(warp + 1);
    if (seen[warp] == 0) seen[warp] = block_.cluster().order().now();
}

/// `phases`: as many as are complete, or one less.
bool Mbarriers::knows_complete(const Accessor& who, const Mbarrier& own, std::uint64_t phases) const {
    if (phases == 0) return true;
    const std::vector<std::uint32_t>& seen = own.seen.at(phases % 2);
    for (std::size_t warp = 0; warp < seen.size(); ++warp) {
        if (seen[warp] != 0 && block_.cluster().order().ordered(who.warp, static_cast<int>(warp), seen[warp]))
            return true;
    }
    return false;
}

/// A warp that knows all complete phases may ask for either parity: the last one's, or the next one's. One that does
/// not know of the last one may mean that one alone. Any other answer depends on which phases have followed the one
/// that it means.
void Mbarriers::require_unambiguous(const Accessor& who, const Mbarrier& own, std::uint32_t offset,
                                    std::uint64_t parity) const {
    const std::uint64_t phases = own.count.phase();
    if (knows_complete(who, own, phases)) return;
    if (phases % 2 != parity && knows_complete(who, own, phases - 1)) return;
    misuse(
        fmt::format("{} waits at {} for parity {}. Phase {} is complete there, but the warp cannot know it: neither "
                    "this warp nor a warp that met it at a barrier has waited for that phase. The warp may confuse two "
                    "phases of one parity. Wait for each phase before the next one can complete",
                    block_.cluster().name_of_warp(who.warp), name_of_mbarrier(offset), parity, phases - 1));
}

/// Throws where there is none, or none that the warp can know of.
Mbarriers::Mbarrier& Mbarriers::find(const Accessor& who, std::uint32_t offset) {
    const auto found = mbarriers_.find(offset);
    if (found == mbarriers_.end()) {
        misuse(
            fmt::format("there is no mbarrier at offset {} of shared memory: no mbarrier.init has made one, or "
                        "mbarrier.inval has ended it",
                        offset));
    }
    require_known(who, found->second, offset);
    return found->second;
}

void Mbarriers::require_known(const Accessor& who, const Mbarrier& own, std::uint32_t offset) {
    Cluster& cluster = block_.cluster();
    const LaunchContext& launch = block_.launch();
    if (!launch.config.checks.races || cluster.order().ordered(who.warp, own.maker.warp, own.made)) return;
    const Warp& warp = cluster.warp(who.warp);
    if (own.fenced != 0 && cluster.barrier().has_waited_for(warp, own.fenced)) return;
    throw AccessFault{
        FaultKind::shared_race,
        fmt::format("{} uses {}, which {} has initialized with no barrier between; the mbarrier.init is {}",
                    cluster.name_of_warp(who.warp), name_of_mbarrier(offset), cluster.name_of_warp(own.maker.warp),
                    launch.program.place(launch.program.code()[own.maker.site]))};
}

void Mbarriers::require_known_to_copies(const Accessor& who, const Mbarrier& own, std::uint32_t offset) const {
    const bool fenced =
        own.fenced != 0 || block_.cluster().order().visible_to_copies(who.warp, own.maker.warp, own.made);
    if (fenced || !block_.launch().config.checks.races) return;
    throw AccessFault{
        FaultKind::proxy_fence,
        fmt::format(
            "a copy completes {}, but no fence.mbarrier_init and no fence.proxy.async followed its mbarrier.init",
            name_of_mbarrier(offset))};
}

// ---- copies ---------------------------------------------------------------------------------------------------------

void Mbarriers::issue(std::uint32_t offset, const BulkLoad& load) {
    Mbarrier& own = find(load.who, offset);
    require_known_to_copies(load.who, own, offset);
    for (const BulkChunk& chunk : *load.chunks) {
        block_.shared().begin_bulk_write(load.who, chunk.offset, kBulkChunkBytes);
    }
    if (block_.launch().config.async_mode == AsyncMode::eager) return finish(offset, own, load);
    own.in_transit.push_back(load);
}

void Mbarriers::finish(std::uint32_t offset, Mbarrier& own, const BulkLoad& load) {
    move_to_shared(block_.shared(), *load.chunks);
    own.arrived.push_back(load);
    if (own.count.expect(-std::int64_t{load.bytes()})) complete(offset, own);
}

bool Mbarriers::finish_copies() {
    for (auto& [offset, own] : mbarriers_) {
        if (own.in_transit.empty() || !is_waited_at(offset)) continue;
        const auto due = std::exchange(own.in_transit, {});
        for (const BulkLoad& load : due) {
            try {
                finish(offset, own, load);
            } catch (const AccessFault& fault) {
                const Program& program = block_.launch().program;
                throw EmulatorFault(fault.kind, fmt::format("{}: {}: {}\n  at {}", to_string(fault.kind), block_.name(),
                                                            fault.text, program.place(program.code()[load.who.site])));
            }
        }
        return true;
    }
    return false;
}

void Mbarriers::complete(std::uint32_t offset, Mbarrier& own) {
    HappensBefore::add(std::exchange(own.gathering, {}), own.handed_over);
    own.seen.at(own.count.phase() % 2).clear();
    own.unobserved.insert(own.unobserved.end(), own.arrived.begin(), own.arrived.end());
    own.arrived.clear();
    wake(offset);
}

/// Copies land when the first warp is told of them: until then they are in flight for everybody.
void Mbarriers::observe(const Accessor& who, Mbarrier& own) {
    HappensBefore& order = block_.cluster().order();
    for (const BulkLoad& load : own.unobserved) {
        for (const BulkChunk& chunk : *load.chunks) block_.shared().land(load.who, chunk.offset, kBulkChunkBytes);
    }
    if (!own.unobserved.empty()) order.give_agent(block_.shared().agent(), own.handed_over);
    own.unobserved.clear();
    order.take(who.warp, own.handed_over);
}

void Mbarriers::check_end() const {
    if (!block_.launch().config.checks.copies_in_flight) return;
    for (const auto& [offset, own] : mbarriers_) {
        for (const auto* loads : {&own.in_transit, &own.arrived, &own.unobserved}) {
            if (loads->empty()) continue;
            const Program& program = block_.launch().program;
            throw AccessFault{FaultKind::copy_in_flight,
                              fmt::format("{} ends while an asynchronous copy is in flight: no thread has waited for "
                                          "it at {}; the copy is {}",
                                          block_.name(), name_of_mbarrier(offset),
                                          program.place(program.code()[loads->front().who.site]))};
        }
    }
}

// ---- who waits ------------------------------------------------------------------------------------------------------

void Mbarriers::add_waiter(Warp& warp, std::uint32_t offset) {
    const bool known = std::ranges::any_of(
        waiters_, [&](const Waiter& waiter) { return waiter.warp == &warp && waiter.offset == offset; });
    if (!known) waiters_.push_back({&warp, &warp.current(), offset});
}

bool Mbarriers::is_waited_at(std::uint32_t offset) const {
    return std::ranges::any_of(waiters_, [&](const Waiter& waiter) { return waiter.offset == offset; });
}

/// A warp may wait at several, lane by lane: one of them is enough.
void Mbarriers::wake(std::uint32_t offset) {
    std::vector<Warp*> woken;
    for (const Waiter& waiter : waiters_) {
        if (waiter.offset == offset) woken.push_back(waiter.warp);
    }
    std::erase_if(waiters_, [&](const Waiter& waiter) { return std::ranges::find(woken, waiter.warp) != woken.end(); });
    for (Warp* warp : woken) warp->resume();
}

std::string Mbarriers::describe() const {
    std::string text;
    for (const auto& [offset, own] : mbarriers_) {
        if (!is_waited_at(offset)) continue;
        text += fmt::format("{}  {}: {}", text.empty() ? "" : "\n", name_of_mbarrier(offset), own.count.describe());
        for (const Waiter& waiter : waiters_) {
            if (waiter.offset != offset) continue;
            text += fmt::format("\n    warp {} waits at {}", waiter.warp->index(),
                                block_.launch().program.place(*waiter.instruction));
        }
    }
    return text;
}

}  // namespace jitgemm::emulator
