#include "runtime/bench/epilogue_pass_text.hpp"

#include "generator/base/operand.hpp"
#include "generator/epilogue/render.hpp"
#include "generator/families/shared/epilogue_element.hpp"
#include "jitgemm/error.hpp"
#include "runtime/verify/guarded_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace jitgemm {
namespace {

constexpr int kWidestAccess = 16;  // bytes
constexpr std::string_view kFunction = "epilogue_pass";
constexpr std::array kTypes{DataType::f16, DataType::bf16, DataType::f32};

bool is_pass_type(DataType type) { return std::ranges::find(kTypes, type) != kTypes.end(); }

std::string_view element_of(DataType type) { return type == DataType::s32 ? "int" : operand_element(type); }

std::string number_of(DataType type, const std::string& element) {
    return type == DataType::s32 ? fmt::format("static_cast<float>({})", element) : as_float(type, element);
}

PassMatrix pass_matrix(const GemmOperand& operand) {
    const MatrixForm form = form_of(operand, true);
    const int base = std::min(form.base_alignment(), kWidestAccess);
    const int line = alignment_of_pitch(form.leading_dimension, form.type);
    return {form.leading_dimension, form.lines() > 1 ? std::min(base, line) : base};
}

constexpr std::string_view kAccesses =
    R"(// Elements that lie side by side, in words as wide as their alignment allows.
template <typename Word, typename Element, int kCount>
union Chunk {
    static constexpr int kWords = kCount * sizeof(Element) / sizeof(Word);
    Word words[kWords];
    Element elements[kCount];
};

template <typename Word, typename Element, int kCount>
__device__ __forceinline__ void read(const Element* from, Element (&elements)[kCount]) {
    Chunk<Word, Element, kCount> chunk;
#pragma unroll
    for (int i = 0; i < Chunk<Word, Element, kCount>::kWords; ++i)
        chunk.words[i] = reinterpret_cast<const Word*>(from)[i];
#pragma unroll
    for (int i = 0; i < kCount; ++i) elements[i] = chunk.elements[i];
}

template <typename Word, typename Element, int kCount>
__device__ __forceinline__ void write(Element* to, const Element (&elements)[kCount]) {
    Chunk<Word, Element, kCount> chunk;
#pragma unroll
    for (int i = 0; i < kCount; ++i) chunk.elements[i] = elements[i];
#pragma unroll
    for (int i = 0; i < Chunk<Word, Element, kCount>::kWords; ++i) reinterpret_cast<Word*>(to)[i] = chunk.words[i];
}
)";

constexpr std::string_view kToHalf =
    R"(
__device__ __forceinline__ unsigned short {0}_of_float(float value) {{
    unsigned short bits;
    asm("cvt.rn.{0}.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}}
)";

constexpr std::string_view kKernel =
    R"(
extern "C" __global__ void __launch_bounds__({0}) {1}(const GemmArgs args) {{
    constexpr Index kChunksOfLine = kRun / kVector, kChunks = kLines * kChunksOfLine;
    for (Index chunk = static_cast<Index>(blockIdx.x) * {0} + threadIdx.x; chunk < kChunks;
         chunk += static_cast<Index>(gridDim.x) * {0})
        finish_chunk(args, chunk / kChunksOfLine, chunk % kChunksOfLine * kVector);
}}
)";

/// Writes finish_chunk: reads, calls of finish, and the write.
class ChunkWriter {
public:
    explicit ChunkWriter(const PassProblem& problem)
        : problem_(problem), parts_(problem.epilogue.parts()), vector_(pass_vector(problem)) {}

    std::string write() {
        const bool is_split = problem_.has_pairs();
        for (const int half : is_split ? std::vector{1, 2} : std::vector{0}) add_sums(half);
        for (const EpilogueOperand& operand : parts_.operands) {
            if (operand.is_scalar) continue;
            const bool differs = differs_in_pair(parts_, operand);
            for (const int half : differs ? std::vector{1, 2} : std::vector{0}) add_operand(operand, half);
        }
        return fmt::format(
            "\n// Makes the elements of D in a line from `run` on.\n"
            "__device__ __forceinline__ void finish_chunk(const GemmArgs& args, long long line, long long run) {{\n"
            "{}{}    {} d_of[kVector];\n#pragma unroll\n    for (int i = 0; i < kVector; ++i)\n"
            "        d_of[i] = {};\n    write<{}>(args.d + {}, d_of);\n}}\n",
            declarations_, reads_, operand_element(problem_.d), stored(fmt::format("finish(args{}).d", values_)),
            word_of(problem_.d, matrix("d").alignment), offset(matrix("d").pitch, 0));
    }

private:
    [[nodiscard]] const PassMatrix& matrix(std::string_view name) const { return problem_.matrices.find(name)->second; }
    /// The access for a vector whose address a number divides.
    [[nodiscard]] std::string_view word_of(DataType type, int alignment) const {
        const int wanted = std::min(vector_ * static_cast<int>(bytes(type)), kWidestAccess);
        if (alignment < wanted || wanted < 4) return element_of(type);
        return wanted == 16 ? "uint4" : wanted == 8 ? "uint2" : "unsigned";
    }
    [[nodiscard]] std::string stored(const std::string& value) const {
        return problem_.d == DataType::f32 ? value : fmt::format("{}_of_float({})", to_string(problem_.d), value);
    }

    /// D's column, `run` or `line`, as one of the product's columns.
    [[nodiscard]] std::string paired(const std::string& column, int half) const {
        if (half == 0) return column;
        if (parts_.pairs == EpiloguePairs::neighbours) return fmt::format("(2 * {} + {})", column, half - 1);
        return half == 1 ? column : fmt::format("({} + {})", column, problem_.n / 2);
    }
    [[nodiscard]] bool has_rows_as_lines() const { return problem_.order == Order::row; }
    [[nodiscard]] std::string row() const { return has_rows_as_lines() ? "line" : "run"; }
    [[nodiscard]] std::string column(int half) const { return paired(has_rows_as_lines() ? "run" : "line", half); }
    /// Of the first element in a matrix.
    [[nodiscard]] std::string offset(std::int64_t pitch, int half) const {
        return has_rows_as_lines() ? fmt::format("line * {} + {}", pitch, column(half))
                                   : fmt::format("{} * {} + run", column(half), pitch);
    }
    /// Whether a chunk of D's elements has every second element.
    [[nodiscard]] bool is_strided(int half) const {
        return half != 0 && parts_.pairs == EpiloguePairs::neighbours && has_rows_as_lines();
    }

    void add_sums(int half) {
        const std::string name = half == 0 ? "acc" : fmt::format("acc_{}", half - 1);
        add(name, "acc", problem_.sums_type, problem_.sums.alignment, offset(problem_.sums.pitch, half),
            is_strided(half), false, unread_condition(parts_, parts_.acc_guards));
    }
    void add_operand(const EpilogueOperand& operand, int half) {
        const std::string name = half == 0 ? operand.name : fmt::format("{}_{}", operand.name, half - 1);
        const std::string unread = unread_condition(parts_, operand.guards);
        if (operand.index.is_matrix()) {
            const PassMatrix& lies = matrix(operand.name);
            return add(name, operand.name, operand.type, lies.alignment, offset(lies.pitch, half), is_strided(half),
                       false, unread);
        }
        const bool follows_run = has_rows_as_lines() ? operand.index.column.has_value() : operand.index.row.has_value();
        const std::string place = operand.index.column ? column(half) : operand.index.row ? row() : "0";
        add(name, operand.name, operand.type, kWidestAccess, place, is_strided(half), !follows_run, unread);
    }
    /// One parameter of finish: its elements in a chunk, or the one that all of them share.
    void add(const std::string& name, const std::string& member, DataType type, int alignment, const std::string& place,
             bool is_strided, bool is_shared, const std::string& unread) {
        const std::string_view element = element_of(type);
        const std::string count = is_shared ? "1" : is_strided ? "2 * kVector - 1" : "kVector";
        declarations_ += fmt::format("    {} {}_of[{}]{};\n", element, name, count, unread.empty() ? "" : " = {}");
        reads_ += fmt::format("    {}read<{}>(args.{} + {}, {}_of);\n",
                              unread.empty() ? "" : fmt::format("if (!({})) ", unread),
                              is_shared || is_strided ? element : word_of(type, alignment), member, place, name);
        values_ += ",\n                                " + number_of(type, fmt::format("{}_of[{}]", name,
                                                                                       is_shared    ? "0"
                                                                                       : is_strided ? "2 * i"
                                                                                                    : "i"));
    }

    const PassProblem& problem_;
    const EpilogueParts& parts_;
    int vector_;
    std::string declarations_, reads_, values_;
};

std::string members_text(const PassProblem& problem) {
    const EpilogueParts& parts = problem.epilogue.parts();
    std::string text = "struct GemmArgs {\n";
    for (const PassMember& member : pass_members(problem)) {
        const auto named = [&](const EpilogueOperand& operand) { return operand.name == member.name; };
        const auto operand = std::ranges::find_if(parts.operands, named);
        const DataType own = member.name == "acc" ? problem.sums_type : problem.d;
        const DataType type = operand == parts.operands.end() ? own : operand->type;
        text += member.is_scalar
                    ? fmt::format("    float {};\n", member.name)
                    : fmt::format("    {}{}* {};\n", member.name == "d" ? "" : "const ", element_of(type), member.name);
    }
    return text + "};\n";
}

std::string sizes_text(const PassProblem& problem) {
    constexpr std::int64_t kMostNarrow = 1LL << 31;
    const std::int64_t chunks = problem.lines() * problem.run() / pass_vector(problem);
    return fmt::format(
        "// One pass over D. Each element is made of its sum, which a product has stored in {}.\n"
        "using Index = {};\n"
        "constexpr Index kLines = {};  // rows of D, or columns where D is column-major\n"
        "constexpr Index kRun = {};    // elements of a line\n"
        "constexpr int kVector = {};   // elements of a thread at a time\n\n",
        to_string(problem.sums_type), chunks < kMostNarrow ? "unsigned" : "unsigned long long", problem.lines(),
        problem.run(), pass_vector(problem));
}

/// The types that need a function: the sums are read as the operands are.
std::string conversions(const PassProblem& problem) {
    EpilogueParts read = problem.epilogue.parts();
    read.operands.push_back({.name = "acc", .type = problem.sums_type});
    const std::string stored = problem.d == DataType::f32 ? "" : fmt::format(kToHalf, to_string(problem.d));
    return operand_conversions(read) + stored;
}

}  // namespace

PassProblem pass_problem(const GemmSpec& spec) {
    PassProblem problem{
        .epilogue = *meaning_of(spec.epilogue, spec.d), .d = spec.d, .order = spec.d_order, .m = spec.m, .n = spec.n};
    for (const GemmOperand& operand : gemm_operands(spec))
        if (operand.pointer == nullptr ? operand.is_matrix() : operand.is_written)
            problem.matrices.emplace(operand.name, pass_matrix(operand));
    problem.sums = problem.matrices.at("d");
    problem.sums_type = spec.accumulator == DataType::s32 ? DataType::s32 : spec.d;
    if (!problem.has_own_sums()) return problem;
    const bool by_row = spec.d_order == Order::row;
    const std::int64_t pitch = by_row ? spec.n : spec.m;
    problem.sums = {pitch, alignment_of_pitch(pitch, problem.sums_type)};
    return problem;
}

std::string unserved_pass(const PassProblem& problem) {
    const EpilogueParts& parts = problem.epilogue.parts();
    if (parts.outputs.size() != 1 || parts.outputs[0].name != "d" || parts.outputs[0].reduction)
        return "a pass stores d alone";
    if (!is_pass_type(problem.d)) return fmt::format("a pass stores f16, bf16 and f32, not {}", to_string(problem.d));
    for (const EpilogueOperand& operand : parts.operands) {
        if (operand.is_scalar) continue;
        if (operand.index.is_over_blocks())
            return fmt::format("a pass does not read {}, an element for a block",
                               with_index(operand.name, operand.index));
        if (!is_pass_type(operand.type))
            return fmt::format("a pass reads f16, bf16 and f32, not {}, a {}", operand.name, to_string(operand.type));
    }
    return {};
}

std::vector<PassMember> pass_members(const PassProblem& problem) {
    std::vector<PassMember> members{{.name = "acc"}, {.name = "d"}};
    for (const bool is_scalar : {false, true})
        for (const EpilogueOperand& operand : problem.epilogue.parts().operands)
            if (operand.is_scalar == is_scalar) members.push_back({operand.name, is_scalar});
    return members;
}

int pass_vector(const PassProblem& problem) {
    const auto size = static_cast<int>(bytes(problem.d));
    const int alignment = std::min(problem.matrices.find("d")->second.alignment, problem.sums.alignment);
    int vector = std::max(1, alignment / size);
    while (problem.run() % vector != 0) vector /= 2;
    return vector;
}

KernelText pass_kernel(const PassProblem& problem, const Arch& arch) {
    if (const std::string reason = unserved_pass(problem); !reason.empty()) throw Error(reason);
    KernelText text;
    text.name = kFunction;
    text.arch = &arch;
    text.body = sizes_text(problem) + members_text(problem) + "\n" + render_epilogue(problem.epilogue) + "\n" +
                conversions(problem) + "\n" + std::string(kAccesses) + ChunkWriter(problem).write() +
                fmt::format(kKernel, kPassThreads, kFunction);
    KernelEntry entry;
    entry.function = kFunction;
    entry.threads = kPassThreads;
    text.entries.push_back(std::move(entry));
    return text;
}

}  // namespace jitgemm
