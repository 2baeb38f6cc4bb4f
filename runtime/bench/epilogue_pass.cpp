#include "runtime/bench/epilogue_pass.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/round_up.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace jitgemm {
namespace {

/// Four times the blocks that an SM holds at once. The kernel loops over the rest.
constexpr std::int64_t kMostBlocksPerSm = 32;

/// The bytes of the kernel's argument struct. Each member follows the previous one, at a multiple of its size.
class ArgumentBytes {
public:
    void add(std::uint64_t address) { add_bytes(&address, sizeof address); }
    void add(float value) { add_bytes(&value, sizeof value); }
    [[nodiscard]] std::span<const std::byte> bytes() {
        bytes_.resize(static_cast<std::size_t>(round_up<std::int64_t>(std::ssize(bytes_), sizeof(std::uint64_t))));
        return bytes_;
    }

private:
    void add_bytes(const void* from, std::size_t size) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + size);
        std::memcpy(bytes_.data() + at, from, size);
    }

    std::vector<std::byte> bytes_;
};

}  // namespace

EpiloguePass::EpiloguePass(ContextState& context, const PassProblem& problem)
    : device_(context.device), members_(pass_members(problem)) {
    const KernelText text = pass_kernel(problem, *device_->model().arch);
    const auto load = [&] { return context.load(text, text.body); };
    function_ = context.load_shared(text.body, load).kernel->functions.front();
    const std::int64_t chunks = problem.lines() * problem.run() / pass_vector(problem);
    const std::int64_t most = kMostBlocksPerSm * device_->model().sm_count;
    shape_.blocks = std::clamp<std::int64_t>(ceil_div<std::int64_t>(chunks, kPassThreads), 1, most);
    shape_.threads = kPassThreads;
}

void EpiloguePass::launch(DevicePointer sums, const GemmArguments& arguments, Stream stream) const {
    ArgumentBytes packed;
    for (const PassMember& member : members_) {
        if (member.is_scalar)
            packed.add(scalar_of(member.name, arguments));
        else if (member.name == "acc")
            packed.add(sums.address);
        else if (member.name == "d")
            packed.add(arguments.d.address);
        else if (const OperandArgument* const operand = arguments.operands.find(member.name); operand != nullptr)
            packed.add(operand->pointer.address);
        else
            throw Error(fmt::format("the launch has no {}", member.name));
    }
    device_->launch(function_, shape_, packed.bytes(), stream);
}

}  // namespace jitgemm
