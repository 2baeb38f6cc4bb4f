#include "runtime/bench/peer_scales.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/round_up.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace jitgemm {
namespace {

constexpr int kCopyThreads = 256;
constexpr std::int64_t kMostCopyBlocks = 1024;  // the kernel loops over the rest
constexpr std::int64_t kMultiple = 4;           // of lines, or of the distance between lines
constexpr std::string_view kCopyFunction = "copy_scales";

struct CopyArguments {
    std::uint64_t from, to;
    ScaleLayout layout;
};

constexpr std::string_view kCopyText =
    R"(struct CopyArguments {
    const float* from;
    float* to;
    long long lines, blocks;
    long long from_line, from_block;
    long long to_line, to_block;
};

// Copies a matrix to other strides.
extern "C" __global__ void __launch_bounds__(256) copy_scales(const CopyArguments args) {
    const long long count = args.lines * args.blocks;
    for (long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; i < count; i += gridDim.x * 256ll) {
        const long long line = i % args.lines, block = i / args.lines;
        args.to[line * args.to_line + block * args.to_block] =
            args.from[line * args.from_line + block * args.from_block];
    }
}
)";

Function copy_function(ContextState& context) {
    KernelText text;
    text.name = kCopyFunction;
    text.arch = context.device->model().arch;
    text.body = kCopyText;
    KernelEntry entry;
    entry.function = kCopyFunction;
    entry.threads = kCopyThreads;
    text.entries.push_back(std::move(entry));
    return context.load_shared(text.body, [&] { return context.load(text, text.body); }).kernel->functions.front();
}

/// The index beside k.
OperandIndex index_of_lines(const GemmOperand& scale) {
    return scale.row == OperandIndex::blocks_k ? scale.column : scale.row;
}

bool is_of_a(const GemmOperand& scale) {
    return index_of_lines(scale) == OperandIndex::m || index_of_lines(scale) == OperandIndex::blocks_m;
}

bool is_square(const GemmOperand& scale) {
    return index_of_lines(scale) == OperandIndex::blocks_m || index_of_lines(scale) == OperandIndex::blocks_n;
}

}  // namespace

const GemmOperand* find_block_scale(const OperandList& operands, bool of_a) {
    const auto* const found = std::ranges::find_if(
        operands, [&](const GemmOperand& operand) { return operand.is_block_scale() && is_of_a(operand) == of_a; });
    return found == operands.end() ? nullptr : found;
}

cublaslt::ScaleMode scale_mode(const GemmOperand& scale) {
    return is_square(scale) ? cublaslt::ScaleMode::block_128x128 : cublaslt::ScaleMode::vector_128;
}

ScaleLayout scale_layout(const GemmOperand& scale) {
    const std::int64_t pitch = scale.leading_dimension();
    const std::int64_t between_rows = scale.order == Order::row ? pitch : 1;
    const std::int64_t between_columns = scale.order == Order::row ? 1 : pitch;
    ScaleLayout layout{.lines = scale.rows,
                       .blocks = scale.columns,
                       .from_line = between_rows,
                       .from_block = between_columns,
                       .to_line = 1};
    if (scale.row == OperandIndex::blocks_k) {
        std::swap(layout.lines, layout.blocks);
        std::swap(layout.from_line, layout.from_block);
    }
    layout.to_block = layout.lines;
    if (is_square(scale)) {
        layout.to_line = round_up(layout.blocks, kMultiple);
        layout.to_block = 1;
    }
    return layout;
}

std::string unserved_block_scales(const GemmSpec& spec) {
    const OperandList operands = gemm_operands(spec);
    const GemmOperand* const of_a = find_block_scale(operands, true);
    const GemmOperand* const of_b = find_block_scale(operands, false);
    if (of_a == nullptr && of_b == nullptr) return {};
    if (of_a == nullptr || of_b == nullptr)
        return fmt::format("cuBLASLt serves no scales of blocks of K for {} alone", of_a == nullptr ? "B" : "A");
    if (is_square(*of_a) && is_square(*of_b)) return "cuBLASLt serves no scales of 128x128 blocks for both A and B";
    for (const GemmOperand* const scale : {of_a, of_b}) {
        const std::int64_t lines = scale_layout(*scale).lines;
        if (!is_square(*scale) && lines % kMultiple != 0)
            return fmt::format("cuBLASLt serves no scales of 1x128 blocks for {} {}: it needs a multiple of {}", lines,
                               is_of_a(*scale) ? "rows of A" : "columns of B", kMultiple);
    }
    return {};
}

PeerScales::PeerScales(ContextState& context, const ScaleLayout& layout)
    : device_(context.device), layout_(layout), function_(copy_function(context)) {}

void PeerScales::prepare(DevicePointer of_text) {
    const std::int64_t bytes = layout_.elements() * static_cast<std::int64_t>(sizeof(float));
    const auto [copy, is_new] = copies_.try_emplace(of_text.address);
    if (is_new) {
        copy->second = DeviceMemory(device_, bytes);
        device_->fill_bytes(copy->second.data(), 0, static_cast<std::size_t>(bytes));
    }
    const CopyArguments arguments{of_text.address, copy->second.data().address, layout_};
    LaunchShape shape;
    shape.blocks = std::clamp<std::int64_t>(ceil_div<std::int64_t>(layout_.lines * layout_.blocks, kCopyThreads), 1,
                                            kMostCopyBlocks);
    shape.threads = kCopyThreads;
    device_->launch(function_, shape, std::as_bytes(std::span(&arguments, 1)), nullptr);
    device_->synchronize(nullptr);
}

DevicePointer PeerScales::copy_of(DevicePointer of_text) const {
    const auto found = copies_.find(of_text.address);
    if (found == copies_.end())
        throw Error(fmt::format("the scales at {:#x} were not prepared for cuBLASLt", of_text.address));
    return found->second.data();
}

}  // namespace jitgemm
