#include "runtime/cli/operand_files.hpp"

#include "generator/base/operand.hpp"
#include "generator/text/nearest_name.hpp"
#include "generator/text/parse_number.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/verify/group_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

namespace jitgemm::cli {
namespace {

using Reasons = std::vector<std::string>;

NpyMatrix open_operand(const std::string& path) {
    try {
        return NpyMatrix::open(path, DataType::bf16, NpyDimensions::up_to_three);
    } catch (const Error& error) {
        throw UsageError(error.what());
    }
}

/// The number that a word is, which may be "nan" or "inf"; nothing for the name of a file.
std::optional<float> read_scalar(const std::string& name, const std::string& word) {
    if (const std::optional<float> number = parse_number<float>(word)) return number;
    const std::optional<double> number = parse_number<double>(word);
    if (!number) return std::nullopt;
    if (std::fabs(*number) < 1) return 0.0F;
    throw UsageError("wrong usage",
                     {fmt::format("--operand {} is {}: a scalar is an f32, and none is that large", name, word)});
}

std::string size_of(const NpyMatrix& file) {
    return file.is_batch() ? fmt::format("{}x{}x{}", file.matrices(), file.rows(), file.columns())
                           : fmt::format("{}x{}", file.rows(), file.columns());
}

bool has_own_option(std::string_view name) { return name == "alpha" || name == "beta"; }

void check_type(const GemmOperand& operand, const NpyMatrix& file, Reasons& reasons) {
    const bool is_converted = file.type() == DataType::f32 && is_half(operand.type);
    if (file.type() != operand.type && !is_converted)
        reasons.push_back(fmt::format("{} ({}) holds {}, but the epilogue declares {}", operand.name, file.path(),
                                      to_string(file.type()), to_string(operand.type)));
}

/// A batch of operands has as many of them as there are problems, and then the operand's own shape.
bool fits_batch(const GemmOperand& operand, const NpyMatrix& file) {
    std::vector<std::int64_t> shape{operand.batch};
    if (operand.row != OperandIndex::one) shape.push_back(operand.rows);
    if (operand.column != OperandIndex::one) shape.push_back(operand.columns);
    return file.shape() == shape && file.order() == Order::row;
}

/// A vector may lie as a row or as a column; a matrix lies as D does.
void check_file(const GemmOperand& operand, const NpyMatrix& file, Reasons& reasons) {
    if (operand.batch_stride != 0) {
        if (!fits_batch(operand, file))
            reasons.push_back(fmt::format("{} ({}) is {}, but the epilogue reads {} of them, each {}x{}, in C order",
                                          operand.name, file.path(), size_of(file), operand.batch, operand.rows,
                                          operand.columns));
        return check_type(operand, file, reasons);
    }
    const bool has_shape = operand.is_matrix() ? file.rows() == operand.rows && file.columns() == operand.columns
                                               : file.rows() * file.columns() == operand.rows * operand.columns &&
                                                     (file.rows() == 1 || file.columns() == 1);
    const bool fits = has_shape && !file.is_batch();
    if (!fits)
        return reasons.push_back(fmt::format("{} ({}) is {}, but the epilogue reads {}x{}", operand.name, file.path(),
                                             size_of(file), operand.rows, operand.columns));
    if (operand.is_matrix() && file.order() != operand.order && file.rows() > 1 && file.columns() > 1)
        reasons.push_back(fmt::format("{} ({}) is in {} order, but {}: in {} order", operand.name, file.path(),
                                      file.order() == Order::row ? "C" : "Fortran",
                                      operand.is_block_scale() ? "scales of blocks lie as their index is written"
                                                               : "a matrix of an epilogue lies as D does",
                                      operand.order == Order::row ? "C" : "Fortran"));
    check_type(operand, file, reasons);
}

constexpr std::string_view kOffsets = "offsets", kRowIndex = "row_index";

/// The ends of groups: one for each, in rising order.
void check_offsets(const std::map<std::string, NpyMatrix, std::less<>>& files, const GemmSpec& spec, Reasons& reasons) {
    const auto found = files.find(kOffsets);
    if (found == files.end())
        return reasons.push_back(
            fmt::format("offsets is missing: --operand offsets=ENDS.npy says where the {} groups end", spec.groups));
    const NpyMatrix& file = found->second;
    if (file.type() != DataType::s32 || file.rows() * file.columns() != spec.groups || file.is_batch())
        return reasons.push_back(
            fmt::format("offsets ({}) is {} of {}, but there are {} groups: expected as many int32", file.path(),
                        size_of(file), to_string(file.type()), spec.groups));
    std::vector<std::int32_t> ends(static_cast<std::size_t>(spec.groups));
    std::memcpy(ends.data(), file.data(), file.size_bytes());
    if (std::string problem = offsets_problem(ends, spec); !problem.empty())
        reasons.push_back(fmt::format("{}: {}", file.path(), problem));
}

}  // namespace

OperandFiles::OperandFiles(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
            throw UsageError("wrong usage",
                             {fmt::format("--operand is '{}': expected NAME=FILE.npy or NAME=NUMBER", word)});
        const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
        if (files_.contains(name) || scalars_.contains(name))
            throw UsageError("wrong usage", {fmt::format("--operand names {} twice", name)});
        if (const std::optional<float> number = read_scalar(name, value))
            scalars_.emplace(name, *number);
        else
            files_.emplace(name, open_operand(value));
    }
}

const NpyMatrix* OperandFiles::row_index() const {
    const auto found = files_.find(kRowIndex);
    return found == files_.end() ? nullptr : &found->second;
}

EpilogueText OperandFiles::with_types(EpilogueText text, DataType d) const {
    if (text.empty()) return text;
    EpilogueTypes types{.d = d, .given = {}};
    for (const auto& [name, file] : files_) types.given.emplace(name, file.type());
    const EpilogueReading reading = try_read_epilogue(text.text(), types);
    return reading.epilogue ? EpilogueText(reading.epilogue->text()) : text;
}

std::vector<std::string> OperandFiles::mismatches(const GemmSpec& spec) const {
    Reasons reasons;
    const EpilogueParts* const parts = parts_of(spec);
    std::vector<std::string_view> known;
    if (has_groups(spec)) {
        known.emplace_back(kOffsets);
        check_offsets(files_, spec, reasons);
    }
    if (is_gathered(spec)) known.emplace_back(kRowIndex);
    if (parts == nullptr) {
        if (files_.size() > known.size() || !scalars_.empty())
            reasons.emplace_back("--operand is given, but there is no --epilogue that reads it");
        return reasons;
    }
    for (const EpilogueOperand& operand : parts->operands) {
        known.push_back(operand.name);
        if (has_own_option(operand.name)) continue;
        const auto file = files_.find(operand.name);
        const auto number = scalars_.find(operand.name);
        if (!operand.is_scalar && number != scalars_.end())
            reasons.push_back(
                fmt::format("{0} is the number {1}, but the epilogue reads {0}[{2}]: --operand {0}=FILE.npy",
                            operand.name, number->second, to_string(operand.index)));
        else if (operand.is_scalar && file != files_.end())
            reasons.push_back(fmt::format("{0} ({1}) is a file, but {0} is a scalar of the launch: --operand {0}=0.5",
                                          operand.name, file->second.path()));
        else if (operand.is_scalar ? number == scalars_.end() : file == files_.end())
            reasons.push_back(fmt::format("{0} is missing: --operand {0}={1}", operand.name,
                                          operand.is_scalar ? "NUMBER" : "FILE.npy"));
        else if (!operand.is_scalar)
            check_file(epilogue_operand(operand, *parts, spec), file->second, reasons);
    }
    const auto check_known = [&](const std::string& name) {
        if (has_own_option(name))
            reasons.push_back(fmt::format("--operand names {0}, which has an option of its own: --{0} NUMBER", name));
        else if (std::ranges::find(known, name) == known.end())
            reasons.push_back(fmt::format("--operand names {}, but the epilogue has no such operand{}", name,
                                          nearest_hint(name, known)));
    };
    for (const auto& [name, file] : files_) check_known(name);
    for (const auto& [name, value] : scalars_) check_known(name);
    return reasons;
}

OperandFiles::Uploaded OperandFiles::upload(Context& context, const GemmSpec& spec) const {
    Uploaded uploaded;
    const OperandList operands = gemm_operands(spec);
    for (const auto& [name, file] : files_) {
        const DataType type = operands.find(name)->type;
        std::vector<std::byte> elements(file.data(), file.data() + file.size_bytes());
        if (file.type() != type) elements = file.elements_as(type);
        DeviceBuffer& buffer =
            uploaded.buffers.emplace_back(context.allocate(std::max<std::size_t>(1, elements.size())));
        buffer.copy_from_host(elements.data(), elements.size());
        if (name == kOffsets && has_groups(spec))
            uploaded.offsets = buffer.data();
        else if (name == kRowIndex && is_gathered(spec))
            uploaded.row_index = buffer.data();
        else
            uploaded.arguments.set({name, buffer.data()});
    }
    for (const auto& [name, value] : scalars_) uploaded.arguments.set({name, value});
    return uploaded;
}

OutputFiles::OutputFiles(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        const auto is_in_name = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
        const auto end = std::ranges::find_if_not(word, is_in_name);
        const bool has_name = end != word.end() && *end == '=' && end != word.begin();
        const std::string name = has_name ? std::string(word.begin(), end) : "d";
        const std::string path = has_name ? std::string(end + 1, word.end()) : word;
        if (!files_.emplace(name, path).second)
            throw UsageError("wrong usage", {fmt::format("--out names {} twice", name == "d" ? "D" : name)});
        check_output_file("out", path);
    }
    if (!files_.contains("d")) throw UsageError("wrong usage", {"--out names no file for D: --out D.npy"});
}

std::vector<std::string> OutputFiles::mismatches(const GemmSpec& spec) const {
    Reasons reasons;
    std::vector<std::string_view> known{"d"};
    if (const EpilogueParts* const parts = parts_of(spec))
        for (const EpilogueOutput& output : parts->outputs)
            if (is_beside_d(output)) known.push_back(output.name);
    for (const std::string_view name : known)
        if (!files_.contains(name))
            reasons.push_back(fmt::format("the file of {0} is missing: --out {0}=FILE.npy", name));
    for (const auto& [name, path] : files_)
        if (std::ranges::find(known, name) == known.end())
            reasons.push_back(
                fmt::format("--out names {}, but the epilogue has no such output{}; a path may begin "
                            "with ./",
                            name, nearest_hint(name, known)));
    return reasons;
}

}  // namespace jitgemm::cli
