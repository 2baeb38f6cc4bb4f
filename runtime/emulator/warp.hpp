#pragma once

#include "runtime/emulator/async_copies.hpp"
#include "runtime/emulator/bulk_stores.hpp"
#include "runtime/emulator/launch_context.hpp"
#include "runtime/emulator/program.hpp"
#include "runtime/emulator/warpgroup_sums.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm::emulator {

class Block;

/// Lanes that parted from others. They run later, from `pc` to `reconvergence`.
struct Suspended {
    std::uint32_t pc;
    std::uint32_t reconvergence;
    Mask mask;
};

/// Registers, parameters and control state of one activation of a function.
struct Frame {
    const Function* function = nullptr;
    std::vector<std::uint32_t> words;        ///< kLanes per row
    std::vector<std::uint64_t> doublewords;  ///< kLanes per row
    std::vector<Mask> predicates;
    std::vector<Mask> written_words;  ///< lanes that wrote a row, if any row is tracked; all lanes for the others
    std::vector<Mask> written_doublewords;
    std::vector<Mask> written_predicates;
    std::vector<std::byte> parameters;  ///< lane by lane
    std::int64_t local_base = 0;        ///< of the function's local variables
    const Instruction* call = nullptr;  ///< the call that made the frame; null for the entry
    std::vector<Suspended> suspended;   ///< of this activation, innermost last
    std::uint32_t pc = 0;               ///< of the caller during a call, as the two below
    std::uint32_t reconvergence = kNoReconvergence;
    Mask active = 0;
};

/// 32 threads that share a program counter if they can. A stack of masks holds lanes that part at a branch. They meet
/// again at its immediate post-dominator.
class Warp {
public:
    enum class State : std::uint8_t { ready, waiting, finished };

    Warp(Block& block, int index, Mask lanes);

    /// Executes up to `steps` instructions, until the warp waits or ends. Throws EmulatorFault. Returns their number.
    std::uint64_t run(std::uint64_t steps);

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] int index() const { return index_; }    ///< in the block
    [[nodiscard]] int number() const { return number_; }  ///< in the cluster
    [[nodiscard]] Mask live() const { return live_; }     ///< lanes that have not exited
    [[nodiscard]] Mask active() const { return active_; }
    [[nodiscard]] Block& block() const { return block_; }
    [[nodiscard]] const LaunchContext& launch() const { return launch_; }
    [[nodiscard]] AsyncCopies& copies() { return copies_; }
    [[nodiscard]] BulkStores& bulk_stores() { return bulk_stores_; }
    [[nodiscard]] WarpgroupSums& warpgroup_sums() { return warpgroup_sums_; }
    [[nodiscard]] const Instruction& current() const { return *current_; }
    [[nodiscard]] std::uint64_t lane_instructions() const { return lane_instructions_; }

    // ---- registers ----
    [[nodiscard]] const std::uint32_t* words(const Value& value) const {
        const std::uint32_t* rows = value.bank == Bank::words ? words_ : constant_words_;
        return rows + std::size_t{value.row} * kLanes;
    }
    [[nodiscard]] const std::uint64_t* doublewords(const Value& value) const {
        const std::uint64_t* rows = value.bank == Bank::doublewords ? doublewords_ : constant_doublewords_;
        return rows + std::size_t{value.row} * kLanes;
    }
    [[nodiscard]] std::uint32_t* target_words(const Value& value) { return words_ + std::size_t{value.row} * kLanes; }
    [[nodiscard]] std::uint64_t* target_doublewords(const Value& value) {
        return doublewords_ + std::size_t{value.row} * kLanes;
    }
    [[nodiscard]] Mask predicate(const Value& value) const {
        return value.negated ? ~predicates_[value.row] : predicates_[value.row];
    }
    void set_predicate(const Value& value, Mask mask, Mask bits) {
        if (value.bank == Bank::predicates) predicates_[value.row] = (predicates_[value.row] & ~mask) | (bits & mask);
    }

    // ---- control ----
    void branch(const Instruction& instruction, Mask taken);
    void exit(Mask mask);
    void call(const Instruction& instruction, Mask mask);
    void return_from_function(Mask mask);
    void wait() { state_ = State::waiting; }
    void resume() { state_ = State::ready; }
    /// The warp waits. When it resumes, the lanes of `mask` execute the current instruction again. This execution does
    /// not count.
    void wait_and_retry(Mask mask);
    void wait_on_grids() { waited_on_grids_ = true; }
    [[nodiscard]] bool waited_on_grids() const {
        return waited_on_grids_;
    }                                                            ///< at least one lane, by griddepcontrol.wait
    [[nodiscard]] int& failed_tests() { return failed_tests_; }  ///< of mbarriers, in a row

    // ---- memory of the warp's own ----
    [[nodiscard]] std::vector<std::byte>& local(int lane) { return local_[static_cast<std::size_t>(lane)]; }
    [[nodiscard]] Frame& frame() { return *frames_.back(); }
    [[nodiscard]] bool in_entry() const { return frames_.size() == 1; }
    [[nodiscard]] const Buffer*& last_buffer() { return last_buffer_; }  ///< a guess at the next access's buffer

    [[nodiscard]] Tally& tally() { return tallies_[current_->index]; }

    /// Sets the active lane: faults of lanes name their thread.
    void at_lane(int lane) { lane_ = lane; }
    [[noreturn]] void fail(FaultKind kind, const std::string& text, int lane = -1) const;
    /// Throws unless all of this warp's threads in the block execute together, as .aligned instructions need.
    void require_converged(Mask mask, const char* what) const;

private:
    void step();
    void rejoin();
    bool pop_suspended();
    void push_frame(const Function& function, const Instruction* call);
    void pop_frame();
    void bind_frame();
    void fill_special(const SpecialRow& special);
    [[nodiscard]] std::array<std::int64_t, 3> special_triple(Special x, int lane) const;
    [[nodiscard]] std::uint32_t special_value(Special special, int lane) const;
    void check_registers(const Instruction& instruction, Mask mask);
    /// The executing lanes whose results count as written.
    [[nodiscard]] Mask result_written(const Instruction& instruction);
    void mark_registers(const Instruction& instruction, Mask mask);
    [[nodiscard]] Mask* written(const Value& value);
    void require_written(const Value& value, Mask mask);

    Block& block_;
    const LaunchContext& launch_;
    int index_;
    int number_;
    Mask lanes_;
    Mask live_;
    State state_ = State::ready;
    bool waited_on_grids_ = false;

    // The running activation, unpacked.
    const Instruction* code_;
    const Instruction* current_;
    std::uint32_t pc_ = 0;
    std::uint32_t reconvergence_ = kNoReconvergence;
    Mask active_ = 0;
    std::uint32_t* words_ = nullptr;
    std::uint64_t* doublewords_ = nullptr;
    Mask* predicates_ = nullptr;
    const std::uint32_t* constant_words_;
    const std::uint64_t* constant_doublewords_;
    Tally* tallies_;

    int lane_ = -1;
    std::uint64_t lane_instructions_ = 0;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::array<std::vector<std::byte>, kLanes> local_;
    AsyncCopies copies_;
    BulkStores bulk_stores_;
    WarpgroupSums warpgroup_sums_;
    int failed_tests_ = 0;
    const Buffer* last_buffer_ = nullptr;
};

}  // namespace jitgemm::emulator
