#pragma once

#include "jitgemm/context.hpp"
#include "jitgemm/data_type.hpp"
#include "jitgemm/device_buffer.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/cli/npy.hpp"

#include <map>
#include <string>
#include <vector>

namespace jitgemm::cli {

/// The operands of an epilogue on the command line: --operand bias=bias.npy, --operand scale=0.5. The ends of groups
/// are among them, --operand offsets=ends.npy, and the rows of A that are gathered.
class OperandFiles {
public:
    /// Throws UsageError for a word that is not NAME=FILE.npy or NAME=NUMBER, for a name that stands twice, and for a
    /// file that cannot be read.
    explicit OperandFiles(const std::vector<std::string>& words);

    /// The text with its operands' types: as declared, else as the files have them. Throws UsageError for a broken
    /// text.
    [[nodiscard]] EpilogueText with_types(EpilogueText text, DataType d) const;
    /// The rows of A that are gathered; null if it is not among the files.
    [[nodiscard]] const NpyMatrix* row_index() const;
    /// Lists errors: a name that the text lacks, a missing operand, a wrong shape or order, a file for a scalar.
    [[nodiscard]] std::vector<std::string> mismatches(const GemmSpec& spec) const;

    struct Uploaded {
        std::vector<DeviceBuffer> buffers;
        OperandArguments arguments;  ///< names are those of this object
        DevicePointer offsets{};     ///< of groups
        DevicePointer row_index{};   ///< rows of A
    };
    [[nodiscard]] Uploaded upload(Context& context, const GemmSpec& spec) const;

private:
    std::map<std::string, NpyMatrix, std::less<>> files_;
    std::map<std::string, float, std::less<>> scalars_;
};

/// The files of a product's outputs on the command line: --out D.npy, --out pre=P.npy.
class OutputFiles {
public:
    /// Throws UsageError for a name that stands twice, and without a file for D.
    explicit OutputFiles(const std::vector<std::string>& words);

    [[nodiscard]] const std::string& of(std::string_view output) const { return files_.find(output)->second; }
    /// Outputs of the spec's epilogue that have no file, and files of no output.
    [[nodiscard]] std::vector<std::string> mismatches(const GemmSpec& spec) const;

private:
    std::map<std::string, std::string, std::less<>> files_;  ///< by name: "d", "pre"
};

}  // namespace jitgemm::cli
