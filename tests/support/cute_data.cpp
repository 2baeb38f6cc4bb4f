#include "tests/support/cute_data.hpp"

#include "generator/layout/layout_text.hpp"

#include <array>
#include <fstream>
#include <istream>

namespace jitgemm::testing {
namespace {

std::array<Tiler, 3> parse_permutation(const std::string& text) {
    LayoutText reader(text);
    std::array<Tiler, 3> permutation;
    reader.expect('(');
    for (std::size_t mode = 0; mode < 3; ++mode) {
        if (mode > 0) reader.expect(',');
        const std::size_t start = reader.position();
        if (reader.take_int_tuple().is_underscore()) continue;
        reader.rewind(start);
        permutation[mode] = Tiler(reader.take_layout());
    }
    return permutation;
}

}  // namespace

std::vector<std::string> cute_lines(const std::string& file, std::string_view kind) {
    std::ifstream input(std::string(JITGEMM_SOURCE_DIR) + "/tests/data/" + file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(input, line);) {
        if (line.rfind(std::string(kind) + " ", 0) == 0) lines.push_back(line.substr(kind.size() + 1));
    }
    return lines;
}

TiledMma read_tiled_mma(std::istream& words) {
    std::string atom, warps, permutation;
    words >> atom >> warps >> permutation;
    return {mma_atom(atom), parse_layout(warps), parse_permutation(permutation)};
}

}  // namespace jitgemm::testing
