#include "runtime/cli/npy.hpp"

#include "tests/fuzz/fuzz_targets.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace jitgemm::fuzz {

void npy(std::string_view input) {
    static_cast<void>(parse_npy_header(input));
    const MemoryFile file(input);
    const NpyMatrix matrix = NpyMatrix::open(file.path(), DataType::bf16);
    static_cast<void>(operand_mismatches(matrix, matrix, &matrix));
    static_cast<void>(matrix.elements_as(DataType::f16));
    static_cast<void>(matrix.elements_as(DataType::f32));
}

}  // namespace jitgemm::fuzz
