#include "generator/epilogue/index.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

std::string place_text(const EpiloguePlace& place) {
    return place.over > 1 ? fmt::format("{}/{}", place.size, place.over) : std::string(1, place.size);
}

std::optional<EpiloguePlace> exchanged(std::optional<EpiloguePlace> place) {
    if (place && place->size != 'h' && place->size != 'k') place->size = place->size == 'm' ? 'n' : 'm';
    return place;
}

}  // namespace

std::string to_string(const EpilogueIndex& index) {
    std::string text = index.of_problem ? "b" : "";
    for (const std::optional<EpiloguePlace>& place : {index.row, index.column})
        if (place) text += (text.empty() ? "" : ",") + place_text(*place);
    return text.empty() ? "0" : text;
}

std::string with_index(std::string_view name, const EpilogueIndex& index) {
    return fmt::format("{}[{}]", name, to_string(index));
}

EpilogueIndex transposed(const EpilogueIndex& index) {
    if (index.has_k()) return {exchanged(index.row), exchanged(index.column), index.of_problem};
    return {exchanged(index.column), exchanged(index.row), index.of_problem};
}

}  // namespace jitgemm
