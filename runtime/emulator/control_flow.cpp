#include "runtime/emulator/control_flow.hpp"

#include <fmt/format.h>

#include <string_view>

namespace jitgemm::emulator {
namespace {

bool is_named(const Instruction& instruction, std::string_view name) { return instruction.source->name == name; }
bool is_branch(const Instruction& instruction) { return is_named(instruction, "bra"); }
bool ends_thread(const Instruction& instruction) {
    return is_named(instruction, "ret") || is_named(instruction, "exit") || is_named(instruction, "trap");
}

std::vector<bool> leaders(std::span<const Instruction> instructions, std::uint32_t base) {
    std::vector<bool> leads(instructions.size() + 1);
    leads.front() = true;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        if (!is_branch(instructions[i]) && !ends_thread(instructions[i])) continue;
        leads[i + 1] = true;
        if (is_branch(instructions[i])) leads[instructions[i].target - base] = true;
    }
    return leads;
}

/// Post-order of the reversed graph from the end, and each block's place in it.
class ReversedOrder {
public:
    explicit ReversedOrder(const std::vector<BasicBlock>& blocks) : predecessors_(blocks.size() + 1) {
        for (std::size_t block = 0; block < blocks.size(); ++block) {
            for (const std::size_t successor : blocks[block].successors) predecessors_[successor].push_back(block);
        }
        place_.assign(blocks.size() + 1, kUnreached);
        visit(blocks.size());
    }
    static constexpr std::size_t kUnreached = ~std::size_t{0};
    [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
    [[nodiscard]] std::size_t place(std::size_t block) const { return place_[block]; }

private:
    struct Step {
        std::size_t block;
        std::size_t next;
    };
    void visit(std::size_t root) {
        std::vector<bool> seen(predecessors_.size());
        std::vector<Step> stack{{root, 0}};
        seen[root] = true;
        while (!stack.empty()) {
            Step& step = stack.back();
            if (step.next == predecessors_[step.block].size()) {
                place_[step.block] = order_.size();
                order_.push_back(step.block);
                stack.pop_back();
                continue;
            }
            const std::size_t block = predecessors_[step.block][step.next++];
            if (!seen[block]) stack.push_back({block, 0});
            seen[block] = true;
        }
    }

    std::vector<std::vector<std::size_t>> predecessors_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> place_;
};

}  // namespace

std::vector<BasicBlock> basic_blocks(std::span<const Instruction> instructions, std::uint32_t base) {
    const std::vector<bool> leads = leaders(instructions, base);
    std::vector<BasicBlock> blocks;
    std::vector<std::size_t> block_of(instructions.size() + 1);
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        if (leads[i]) blocks.push_back({i, i, {}});
        blocks.back().end = i + 1;
        block_of[i] = blocks.size() - 1;
    }
    block_of[instructions.size()] = blocks.size();
    for (BasicBlock& block : blocks) {
        const Instruction& last = instructions[block.end - 1];
        const bool leaves = is_branch(last) || ends_thread(last);
        if (!leaves || last.guarded) block.successors.push_back(block_of[block.end]);
        if (is_branch(last)) block.successors.push_back(block_of[last.target - base]);
        if (ends_thread(last)) block.successors.push_back(blocks.size());
    }
    return blocks;
}

std::vector<std::size_t> immediate_post_dominators(const std::vector<BasicBlock>& blocks) {
    const ReversedOrder reversed(blocks);
    const std::size_t end = blocks.size();
    std::vector<std::size_t> dominator(end + 1, ReversedOrder::kUnreached);
    dominator[end] = end;
    const auto meet = [&](std::size_t a, std::size_t b) {
        while (a != b) {
            while (reversed.place(a) < reversed.place(b)) a = dominator[a];
            while (reversed.place(b) < reversed.place(a)) b = dominator[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (auto block = reversed.order().rbegin(); block != reversed.order().rend(); ++block) {
            if (*block == end) continue;
            std::size_t next = ReversedOrder::kUnreached;
            for (const std::size_t successor : blocks[*block].successors) {
                if (dominator[successor] == ReversedOrder::kUnreached) continue;
                next = next == ReversedOrder::kUnreached ? successor : meet(successor, next);
            }
            changed = changed || dominator[*block] != next;
            dominator[*block] = next;
        }
    }
    for (std::size_t& block : dominator) block = block == ReversedOrder::kUnreached ? end : block;
    dominator.pop_back();
    return dominator;
}

void set_reconvergence(std::span<Instruction> instructions, std::uint32_t base) {
    const std::vector<BasicBlock> blocks = basic_blocks(instructions, base);
    const std::vector<std::size_t> dominators = immediate_post_dominators(blocks);
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        Instruction& last = instructions[blocks[block].end - 1];
        if (!is_branch(last) || dominators[block] == blocks.size()) continue;
        last.reconvergence = base + static_cast<std::uint32_t>(blocks[dominators[block]].first);
    }
}

// ---- registers that may be read unwritten ---------------------------------------------------------------------------

namespace {

/// A bit for each row of a function's three banks.
class RegisterSet {
public:
    RegisterSet(const Function& function, bool full)
        : doublewords_at_(function.words),
          predicates_at_(function.words + function.doublewords),
          bits_((function.words + function.doublewords + function.predicates + 63) / 64, full ? ~std::uint64_t{0} : 0) {
    }

    [[nodiscard]] bool has(const Value& value) const { return (bits_[bit(value) / 64] >> bit(value) % 64 & 1U) != 0; }
    void set(const Value& value) { bits_[bit(value) / 64] |= std::uint64_t{1} << bit(value) % 64; }
    void clear(const Value& value) { bits_[bit(value) / 64] &= ~(std::uint64_t{1} << bit(value) % 64); }
    /// Keeps what both have; whether that took anything away.
    bool intersect(const RegisterSet& other) {
        bool changed = false;
        for (std::size_t i = 0; i < bits_.size(); ++i) {
            const std::uint64_t kept = bits_[i] & other.bits_[i];
            changed = changed || kept != bits_[i];
            bits_[i] = kept;
        }
        return changed;
    }

private:
    [[nodiscard]] std::size_t bit(const Value& value) const {
        if (value.bank == Bank::words) return value.row;
        return value.row + (value.bank == Bank::doublewords ? doublewords_at_ : predicates_at_);
    }
    std::size_t doublewords_at_;
    std::size_t predicates_at_;
    std::vector<std::uint64_t> bits_;
};

Value guard_of(const Instruction& instruction) { return {.bank = Bank::predicates, .row = instruction.guard}; }

template <typename Function>
void for_each_read(const Instruction& instruction, Function function) {
    if (instruction.guarded) function(guard_of(instruction));
    const bool adds = instruction.unwritten == UnwrittenSource::added_to;
    for (std::size_t i = adds ? 0 : instruction.destinations; i < instruction.values.size(); ++i) {
        if (instruction.values[i].is_register()) function(instruction.values[i]);
    }
}

template <typename Function>
void for_each_written(const Instruction& instruction, Function function) {
    for (std::size_t i = 0; i < instruction.destinations; ++i) {
        if (instruction.values[i].is_register()) function(instruction.values[i]);
    }
}

/// Updates `written`, the registers that are surely written, by one instruction. A result of registers that may be
/// unwritten may be unwritten, too.
void advance(RegisterSet& written, const Instruction& instruction) {
    if (instruction.guarded) return;
    bool copies_unwritten = false;
    if (instruction.unwritten != UnwrittenSource::fault && instruction.unwritten != UnwrittenSource::added_to) {
        for_each_read(instruction, [&](const Value& value) { copies_unwritten |= !written.has(value); });
    }
    for_each_written(instruction,
                     [&](const Value& value) { copies_unwritten ? written.clear(value) : written.set(value); });
}

RegisterSet at_entry(const Function& function) {
    RegisterSet written(function, false);
    for (const SpecialRow& special : function.specials) {
        written.set({.bank = bank_of(special.special), .row = special.row});
    }
    return written;
}

/// A set for each block: NVRTC's largest kernels take some MB.
void require_room(std::span<const Instruction> instructions, std::size_t blocks, const Function& function) {
    constexpr std::size_t kMostBits = std::size_t{1} << 31;
    const std::size_t registers = std::size_t{function.words} + function.doublewords + function.predicates;
    if (registers <= kMostBits / (blocks + 1)) return;
    throw PtxError(instructions.front().source->line,
                   fmt::format("{} has {} basic blocks and {} registers: too many to follow what is written",
                               function.name, blocks, registers));
}

/// The registers that are surely written at the beginning of each block.
std::vector<RegisterSet> surely_written(std::span<const Instruction> instructions,
                                        const std::vector<BasicBlock>& blocks, const Function& function) {
    require_room(instructions, blocks.size(), function);
    std::vector<RegisterSet> before(blocks.size() + 1, RegisterSet(function, true));
    before.front() = at_entry(function);
    std::vector<bool> due(blocks.size() + 1, true);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t block = 0; block < blocks.size(); ++block) {
            if (!due[block]) continue;
            due[block] = false;
            RegisterSet written = before[block];
            for (std::size_t i = blocks[block].first; i < blocks[block].end; ++i) advance(written, instructions[i]);
            for (const std::size_t successor : blocks[block].successors) {
                if (!before[successor].intersect(written)) continue;
                due[successor] = true;
                changed = true;
            }
        }
    }
    return before;
}

}  // namespace

std::vector<Value> mark_tracked(std::span<Instruction> instructions, std::uint32_t base, const Function& function) {
    const std::vector<BasicBlock> blocks = basic_blocks(instructions, base);
    std::vector<RegisterSet> written = surely_written(instructions, blocks, function);
    RegisterSet doubtful(function, false);
    std::vector<Value> tracked;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        for (std::size_t i = blocks[block].first; i < blocks[block].end; ++i) {
            for_each_read(instructions[i], [&](const Value& value) {
                if (written[block].has(value) || doubtful.has(value)) return;
                doubtful.set(value);
                tracked.push_back(value);
            });
            advance(written[block], instructions[i]);
        }
    }
    if (tracked.empty()) return tracked;
    for (Instruction& instruction : instructions) {
        const auto note = [&](const Value& value) { instruction.tracked |= doubtful.has(value); };
        for_each_read(instruction, note);
        for_each_written(instruction, note);
    }
    return tracked;
}

}  // namespace jitgemm::emulator
