#include "runtime/cli/arrays.hpp"

#include "generator/base/operand.hpp"
#include "jitgemm/device_buffer.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

namespace jitgemm::cli {
namespace {

using Reasons = std::vector<std::string>;

/// Sizes, layout and leading dimensions lie in the files.
constexpr std::array<std::string_view, 32> kAllowedOptions{
    "type",           "a-type",     "b-type", "c-type", "d-type",     "acc-type",      "align-a",     "align-b",
    "align-c",        "align-d",    "alpha",  "beta",   "d-layout",   "epilogue",      "broadcast-c", "deterministic",
    "constant-a",     "constant-b", "kernel", "family", "param",      "templates",     "device",      "arch",
    "emulator-limit", "sums",       "math",   "groups", "group-rows", "expected-rows", "ragged",      "symmetric"};

bool is_symmetric(const ProblemOptions& options) { return options.text("symmetric") == "yes"; }

void check_usage(const ArrayFiles& files, const ProblemOptions& options) {
    Reasons reasons;
    if (files.a.empty()) reasons.emplace_back("--a is missing");
    if (files.b.empty() && !is_symmetric(options)) reasons.emplace_back("--b is missing");
    if (!files.b.empty() && is_symmetric(options))
        reasons.emplace_back("--symmetric is yes, and --b is given: B is A transposed, so leave --b out");
    if (files.outs.empty()) reasons.emplace_back("--out is missing");
    if (!reasons.empty())
        throw UsageError("arrays from files take --a A.npy --b B.npy [--c C.npy] [--operand NAME=X.npy] --out D.npy",
                         reasons);
    options.allow_only(kAllowedOptions, "the files");
}

/// The type of raw elements: that of an option, where it names an 8-bit float, else bf16.
DataType type_of_raw(const ProblemOptions& options, std::string_view own_option) {
    const std::optional<std::string> text = options.text(options.given(own_option) ? own_option : "type");
    const std::optional<DataType> named = text ? data_type_of_word(*text) : std::nullopt;
    return named && is_float8(*named) ? *named : DataType::bf16;
}

NpyMatrix open_array(const std::string& path, DataType raw) {
    try {
        return NpyMatrix::open(path, raw);
    } catch (const Error& error) {
        throw UsageError(error.what());
    }
}

/// B's file; of a symmetric product, A's.
NpyMatrix open_b(const ArrayFiles& files, const NpyMatrix& a, const ProblemOptions& options) {
    return is_symmetric(options) ? a.transposed() : open_array(files.b, type_of_raw(options, "b-type"));
}

/// The type an operand is multiplied in: what the options say, else its file's. f32 files are converted on the way in.
class OperandType {
public:
    OperandType(const ProblemOptions& options, Reasons& reasons) : options_(options), reasons_(reasons) {}

    [[nodiscard]] DataType of(const NpyMatrix& file, std::string_view own_option) const {
        const std::string_view option = options_.given(own_option) ? own_option : "type";
        const std::optional<std::string> text = options_.text(option);
        if (!text) return file.type();
        const std::optional<DataType> wanted = data_type_of_word(*text);
        if (wanted)
            check_conversion(file, *wanted, option);
        else
            reasons_.push_back(fmt::format("--{} is '{}': no such type", option, *text));
        return wanted.value_or(file.type());
    }

    void check_conversion(const NpyMatrix& file, DataType wanted, std::string_view option) const {
        if (wanted == file.type() || (file.type() == DataType::f32 && is_half(wanted))) return;
        reasons_.push_back(fmt::format("{} holds {}, --{} asks for {}: only f32 files are converted, to f16 or bf16",
                                       file.path(), to_string(file.type()), option, to_string(wanted)));
    }

private:
    const ProblemOptions& options_;
    Reasons& reasons_;
};

void refuse(const Reasons& reasons) {
    if (!reasons.empty()) throw UsageError("the arrays do not make a problem", reasons);
}

const NpyMatrix* pointer_to(const std::optional<NpyMatrix>& array) { return array ? &*array : nullptr; }

/// A matrix of f32 and one of half precision make a problem once the wide one is converted.
void hint_at_conversion(const ArrayProblem& arrays, const GemmSpec& spec, Reasons& reasons) {
    const bool a_is_wide = spec.a == DataType::f32 && is_half(spec.b);
    const bool b_is_wide = spec.b == DataType::f32 && is_half(spec.a);
    if (!a_is_wide && !b_is_wide) return;
    const NpyMatrix& wide = a_is_wide ? arrays.a : arrays.b;
    const NpyMatrix& half = a_is_wide ? arrays.b : arrays.a;
    const DataType type = a_is_wide ? spec.b : spec.a;
    reasons.push_back(fmt::format("{} holds f32 and {} {}: --type {} would convert the first", wide.path(), half.path(),
                                  to_string(type), to_string(type)));
}

/// A single matrix serves all problems of a batch.
void take_batch(const ArrayProblem& arrays, GemmSpec& spec) {
    spec.batch = arrays.a.matrices() != 1 ? arrays.a.matrices() : arrays.b.matrices();
    if (arrays.a.matrices() == 1) spec.batch_stride_a = 0;
    if (arrays.b.matrices() == 1) spec.batch_stride_b = 0;
    if (arrays.c && arrays.c->matrices() == 1) spec.batch_stride_c = 0;
}

/// Each matrix of A has room for the rows of a group.
void take_rooms(const ArrayProblem& arrays, GemmSpec& spec, Reasons& reasons) {
    spec.group_rows = arrays.a.rows();
    spec.m = arrays.a.matrices() * arrays.a.rows();
    if (arrays.a.matrices() != arrays.b.matrices())
        reasons.push_back(fmt::format("A ({}) has room for {} groups, but B ({}) has {} matrices: each group has one",
                                      arrays.a.path(), arrays.a.matrices(), arrays.b.path(), arrays.b.matrices()));
    if (arrays.operands.row_index() != nullptr)
        reasons.push_back(
            fmt::format("A ({}) has three dimensions, but row_index names rows of one matrix", arrays.a.path()));
    if (arrays.c && arrays.c->matrices() != arrays.a.matrices())
        reasons.push_back(fmt::format("C ({}) has {} matrices, but A ({}) has room for {} groups", arrays.c->path(),
                                      arrays.c->matrices(), arrays.a.path(), arrays.a.matrices()));
}

/// Each group of A's rows has one of B's matrices. Groups of K are parts of one A and one B.
void take_groups(const ArrayProblem& arrays, const ProblemOptions& options, GemmSpec& spec, Reasons& reasons) {
    if (options.text("ragged") == "k") {
        if (arrays.c && arrays.c->matrices() == 1) spec.batch_stride_c = 0;
        for (const auto& [name, file] : {std::pair{'A', &arrays.a}, std::pair{'B', &arrays.b}})
            if (file->is_batch())
                reasons.push_back(fmt::format("{} ({}) has three dimensions, but groups of K are parts of one matrix",
                                              name, file->path()));
        return;
    }
    if (arrays.a.is_batch()) take_rooms(arrays, spec, reasons);
    if (options.text("groups") != std::to_string(arrays.b.matrices()))
        reasons.push_back(fmt::format("--groups is {}, but B ({}) has {} matrices: each group has one",
                                      options.text("groups").value_or(""), arrays.b.path(), arrays.b.matrices()));
}

/// Rows of D are as many as the index names rows of A.
void take_row_index(const ArrayProblem& arrays, const NpyMatrix& index, GemmSpec& spec, Reasons& reasons) {
    spec.source_rows = spec.m;
    spec.m = index.rows() * index.columns();
    if (index.type() != DataType::s32 || index.is_batch() || (index.rows() != 1 && index.columns() != 1))
        reasons.push_back(fmt::format("row_index ({}) is {}x{} of {}: expected a vector of int32", index.path(),
                                      index.rows(), index.columns(), to_string(index.type())));
    if (arrays.c && (arrays.c->rows() != spec.m || arrays.c->columns() != spec.n))
        reasons.push_back(fmt::format("C ({}) is {}x{} where row_index and B's columns make D {}x{}", arrays.c->path(),
                                      arrays.c->rows(), arrays.c->columns(), spec.m, spec.n));
}

/// The C whose shape that of A and B tells.
const NpyMatrix* c_as_wide_as_a(const ArrayProblem& arrays, const ProblemOptions& options) {
    const bool may_be_row = options.given("broadcast-c");
    return may_be_row || arrays.operands.row_index() != nullptr ? nullptr : pointer_to(arrays.c);
}

/// Groups of K, whose number the files don't say.
std::optional<std::int64_t> groups_of_k(const ProblemOptions& options) {
    if (options.text("ragged") != "k") return std::nullopt;
    const std::string text = options.text("groups").value_or("");
    std::int64_t groups = 0;
    std::from_chars(text.data(), text.data() + text.size(), groups);
    return groups;
}

/// The problem by the files alone. D and C have the order of C's file.
GemmSpec spec_of(const ArrayProblem& arrays, const ProblemOptions& options, Reasons& reasons) {
    const OperandType operand_type(options, reasons);
    GemmSpec spec = gemm_spec_of_type(operand_type.of(arrays.a, "a-type"));
    spec.b = operand_type.of(arrays.b, "b-type");
    spec.m = arrays.a.rows();
    spec.n = arrays.b.columns();
    spec.k = arrays.a.columns();
    spec.layout = layout_of(arrays.a.order(), arrays.b.order());
    if (options.given("groups"))
        take_groups(arrays, options, spec, reasons);
    else if (arrays.a.is_batch() || arrays.b.is_batch())
        take_batch(arrays, spec);
    if (arrays.operands.row_index() != nullptr) take_row_index(arrays, *arrays.operands.row_index(), spec, reasons);
    if (arrays.c && !options.given("broadcast-c")) spec.d_order = arrays.c->order();  // one row lies both ways
    hint_at_conversion(arrays, spec, reasons);
    return spec;
}

/// A C that is to be read must lie as D does (a single row or column lies both ways) and be convertible.
void check_c(const ArrayProblem& arrays, const ProblemOptions& options) {
    if (!arrays.c) return;
    Reasons reasons;
    const GemmSpec& spec = arrays.request.spec;
    const NpyMatrix& c = *arrays.c;
    const auto extent = [&](Order repeated, std::int64_t size) {
        return spec.broadcast_c && spec.d_order == repeated ? 1 : size;
    };
    const std::int64_t rows = extent(Order::row, spec.m), columns = extent(Order::column, spec.n);
    if (options.given("broadcast-c") && (c.rows() != rows || c.columns() != columns))
        reasons.push_back(fmt::format("C ({}) is {}x{} and not {}x{}", c.path(), c.rows(), c.columns(), rows, columns));
    if (c.order() != spec.d_order && c.rows() > 1 && c.columns() > 1) {
        reasons.push_back(fmt::format("{} is in {} order, --d-layout {} asks for the other: C and D lie alike",
                                      c.path(), c.order() == Order::row ? "C" : "Fortran", to_string(spec.d_order)));
    }
    OperandType(options, reasons)
        .check_conversion(c, spec.c.value_or(c.type()), options.given("c-type") ? "c-type" : "d-type");
    refuse(reasons);
}

void tell_conversion(const NpyMatrix& file, DataType type, Output& output) {
    if (file.type() != type) {
        output.note(fmt::format("jitgemm: {} is converted from {} to {}", file.path(), to_string(file.type()),
                                to_string(type)));
    }
}

/// Finite f32 elements that are infinite once they are converted to f16 or bf16.
std::int64_t overflows(const NpyMatrix& file, const std::vector<std::byte>& converted, DataType type) {
    constexpr unsigned kMagnitude = 0x7fff;
    const unsigned infinity = type == DataType::f16 ? 0x7c00 : 0x7f80;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < converted.size() / sizeof(std::uint16_t); ++i) {
        float before = 0;
        std::uint16_t after = 0;
        std::memcpy(&before, file.data() + i * sizeof before, sizeof before);
        std::memcpy(&after, converted.data() + i * sizeof after, sizeof after);
        count += std::isfinite(before) && (after & kMagnitude) == infinity ? 1 : 0;
    }
    return count;
}

void tell_overflows(const NpyMatrix& file, const std::vector<std::byte>& converted, DataType type, Output& output) {
    const std::int64_t count = overflows(file, converted, type);
    if (count == 0) return;
    output.note(fmt::format("jitgemm: {} of {} elements of {} are beyond what {} holds and became infinite", count,
                            converted.size() / sizeof(std::uint16_t), file.path(), to_string(type)));
}

DeviceBuffer upload(Context& context, const NpyMatrix& file, DataType type, Output& output) {
    if (file.type() == type) {
        DeviceBuffer buffer = context.allocate(std::max<std::size_t>(1, file.size_bytes()));
        buffer.copy_from_host(file.data(), file.size_bytes());
        return buffer;
    }
    const std::vector<std::byte> elements = file.elements_as(type);
    tell_overflows(file, elements, type, output);
    DeviceBuffer buffer = context.allocate(std::max<std::size_t>(1, elements.size()));
    buffer.copy_from_host(elements.data(), elements.size());
    return buffer;
}

/// The outputs of a product in their order, each with memory of its own. They are packed.
struct Outputs {
    std::vector<GemmOperand> operands;
    std::vector<DeviceBuffer> buffers;
};

std::size_t bytes_of(const GemmOperand& operand) {
    return static_cast<std::size_t>(operand.matrices() * operand.rows * operand.columns * bytes(operand.type));
}

/// Of a product, of a batch of them, which may be one, or of groups with room for rows, as A has it.
std::vector<std::int64_t> shape_of(const GemmOperand& operand, const ArrayProblem& arrays) {
    const GemmSpec& spec = arrays.request.spec;
    if (is_grouped(spec) && arrays.a.is_batch() && operand.row == OperandIndex::m)
        return {spec.groups, spec.group_rows, operand.columns};
    const bool of_batch = is_grouped_by_k(spec) || (!is_grouped(spec) && (arrays.a.is_batch() || arrays.b.is_batch()));
    if (!of_batch || !operand.is_matrix()) return {operand.rows, operand.columns};
    return {operand.batch, operand.rows, operand.columns};
}

Outputs allocate_outputs(Context& context, const GemmSpec& spec, GemmArguments& arguments) {
    Outputs outputs;
    for (const GemmOperand& operand : gemm_operands(spec)) {
        if (!operand.is_written) continue;
        outputs.operands.push_back(operand);
        outputs.buffers.push_back(context.allocate(std::max<std::size_t>(1, bytes_of(operand))));
        if (is_grouped(spec)) {  // no kernel writes rows behind the last group
            const std::vector<std::byte> zeros(outputs.buffers.back().size_bytes());
            outputs.buffers.back().copy_from_host(zeros.data(), zeros.size());
        }
        set_address(operand, arguments, outputs.buffers.back().data());
    }
    return outputs;
}

Outputs multiply(Context& context, const GemmKernel& kernel, const ArrayProblem& arrays, Output& output) {
    const GemmSpec& spec = arrays.request.spec;
    const DeviceBuffer a = upload(context, arrays.a, spec.a, output);
    const DeviceBuffer b = spec.symmetric ? DeviceBuffer() : upload(context, arrays.b, spec.b, output);
    const DeviceBuffer c = arrays.c && spec.c ? upload(context, *arrays.c, *spec.c, output) : DeviceBuffer();
    const OperandFiles::Uploaded operands = arrays.operands.upload(context, spec);
    GemmArguments arguments{.a = a.data(),
                            .b = b.data(),
                            .c = c.data(),
                            .alpha = arrays.request.alpha,
                            .beta = arrays.request.beta,
                            .offsets = operands.offsets,
                            .row_index = operands.row_index,
                            .operands = operands.arguments};
    Outputs outputs = allocate_outputs(context, spec, arguments);
    kernel.launch(arguments);
    context.synchronize();
    return outputs;
}

void write_output(const GemmOperand& operand, const std::vector<std::int64_t>& shape, const DeviceBuffer& buffer,
                  const std::string& path, Output& output) {
    std::vector<std::byte> elements(bytes_of(operand));
    buffer.copy_to_host(elements.data(), elements.size());
    write_npy(path, operand.type, shape, operand.order, elements.data());
    const bool widened = operand.type == DataType::bf16;
    output.note(fmt::format("jitgemm: wrote {} ({} {}{})", path, fmt::join(shape, " x "),
                            widened ? "f32" : to_string(operand.type),
                            widened ? ", widened from bf16, which numpy does not know" : ""));
}

}  // namespace

void ArrayFiles::declare(CLI::App& app) {
    const auto option = [&app](const char* name, std::string& path, const char* description) {
        app.add_option(name, path, description)->group("Arrays")->type_name("FILE.npy");
    };
    option("--a", a, "Read A from a file; m, n, k, layout and types come from the files");
    option("--b", b, "Read B from a file");
    option("--c", c, "Read C from a file");
    app.add_option("--out", outs, "Write D to this file; NAME=FILE.npy: another output of --epilogue; may be repeated")
        ->group("Arrays")
        ->type_name("FILE.npy");
    app.add_option(
           "--operand", operands,
           "An operand of --epilogue: NAME=FILE.npy, or NAME=NUMBER for a scalar of the launch; may be repeated")
        ->group("Arrays")
        ->type_name("");
}

ArrayProblem read_arrays(const ArrayFiles& files, const ProblemOptions& options, Output& output) {
    check_usage(files, options);
    const NpyMatrix a = open_array(files.a, type_of_raw(options, "a-type"));
    ArrayProblem arrays{
        a, open_b(files, a, options), std::nullopt, OperandFiles(files.operands), OutputFiles(files.outs), {}};
    if (!files.c.empty()) arrays.c = open_array(files.c, DataType::bf16);

    Reasons reasons = operand_mismatches(arrays.a, arrays.b, c_as_wide_as_a(arrays, options), groups_of_k(options));
    const GemmSpec spec = spec_of(arrays, options, reasons);
    refuse(reasons);
    arrays.request = options.problem_over(spec, arrays.c.has_value());
    arrays.request.spec.epilogue = arrays.operands.with_types(arrays.request.spec.epilogue, arrays.request.spec.d);
    reasons = arrays.operands.mismatches(arrays.request.spec);
    std::ranges::move(arrays.outputs.mismatches(arrays.request.spec), std::back_inserter(reasons));
    refuse(reasons);
    const bool is_batch = is_batched(arrays.request.spec) || is_grouped_by_k(arrays.request.spec);
    if (is_batch && arrays.request.spec.d_order == Order::column)
        refuse({"--d-layout is n, but the D of a batch is written in C order: leave it out"});
    if (arrays.request.spec.c && !arrays.c) refuse({"C is to be read (--c-type or --beta), but --c names no file"});
    check_c(arrays, options);

    tell_conversion(arrays.a, arrays.request.spec.a, output);
    if (!arrays.request.spec.symmetric) tell_conversion(arrays.b, arrays.request.spec.b, output);
    if (arrays.c && arrays.request.spec.c) tell_conversion(*arrays.c, *arrays.request.spec.c, output);
    return arrays;
}

void multiply_arrays(Context& context, const GemmKernel& kernel, const ArrayProblem& arrays, Output& output) {
    output.progress(fmt::format("multiplying {} by {}", arrays.a.path(), arrays.b.path()));
    const Outputs outputs = multiply(context, kernel, arrays, output);
    for (std::size_t i = 0; i < outputs.operands.size(); ++i)
        write_output(outputs.operands[i], shape_of(outputs.operands[i], arrays), outputs.buffers[i],
                     arrays.outputs.of(outputs.operands[i].name), output);
}

}  // namespace jitgemm::cli
