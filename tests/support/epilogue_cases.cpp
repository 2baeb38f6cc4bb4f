#include "tests/support/epilogue_cases.hpp"

#include <fmt/format.h>

#include <random>

namespace jitgemm::testing {
namespace {

using nlohmann::json;

class EighthsMaker {
public:
    explicit EighthsMaker(std::uint64_t seed) : random_(seed) {}
    /// -3 .. 3, in steps of 1/8.
    double next() { return static_cast<double>(random_() % 49) / 8 - 3; }
    json vector(int count) {
        json values = json::array();
        for (int i = 0; i < count; ++i) values.push_back(next());
        return values;
    }
    json matrix(int rows, int columns) {
        json lines = json::array();
        for (int i = 0; i < rows; ++i) lines.push_back(vector(columns));
        return lines;
    }

private:
    std::mt19937_64 random_;
};

int extent_of(const EpiloguePlace& place) {
    const int whole = place.size == 'm' ? kEpilogueRows : place.size == 'n' ? kEpilogueColumns : kEpilogueColumns / 2;
    return (whole + place.over - 1) / place.over;
}

json values_of(const EpilogueIndex& index, EighthsMaker& random) {
    if (index.row && index.column) return random.matrix(extent_of(*index.row), extent_of(*index.column));
    if (index.is_element()) return random.vector(1);
    return random.vector(extent_of(index.row ? *index.row : *index.column));
}

double element_of(const json& values, const EpilogueIndex& index, int row, int column) {
    if (index.is_element()) return values[0].get<double>();
    const int line = index.row ? row / index.row->over : -1;
    const int place = index.column ? column / index.column->over : -1;
    if (line >= 0 && place >= 0) return values[static_cast<std::size_t>(line)][static_cast<std::size_t>(place)];
    return values[static_cast<std::size_t>(line >= 0 ? line : place)];
}

std::pair<int, int> cell_of(const EpilogueIndex& index, int row, int column) {
    return {index.row ? row / index.row->over : -1, index.column ? column / index.column->over : -1};
}

}  // namespace

EpilogueCase::EpilogueCase(const std::string& text, std::uint64_t seed)
    : epilogue_(read_epilogue(text)), text_(text), operands_(json::object()), scalars_(json::object()) {
    EighthsMaker random(seed);
    acc_ = random.matrix(kEpilogueRows, kEpilogueColumns);
    for (const EpilogueOperand& operand : epilogue_.parts().operands) {
        if (operand.is_scalar) {
            const double value = random.next();
            scalars_[operand.name] = value == 0 ? 1 : value;  // 0 would guard; Python reads what is guarded
        } else {
            operands_[operand.name] = values_of(operand.index, random);
        }
    }
}

int EpilogueCase::columns() const {
    return epilogue_.parts().pairs == EpiloguePairs::none ? kEpilogueColumns : kEpilogueColumns / 2;
}

std::pair<int, int> EpilogueCase::product_columns(int column) const {
    switch (epilogue_.parts().pairs) {
        case EpiloguePairs::halves: return {column, column + kEpilogueColumns / 2};
        case EpiloguePairs::neighbours: return {2 * column, 2 * column + 1};
        default: return {column, column};
    }
}

EpilogueElement::Columns EpilogueCase::columns_of(const EpilogueOperand& operand, int row, int column) const {
    if (operand.is_scalar) return {exactly(scalars_[operand.name]), {}};
    const json& values = operands_[operand.name];
    if (!differs_in_pair(epilogue_.parts(), operand))
        return {exactly(element_of(values, operand.index, row, column)), {}};
    const auto [first, second] = product_columns(column);
    return {exactly(element_of(values, operand.index, row, first)),
            exactly(element_of(values, operand.index, row, second))};
}

EpilogueElement EpilogueCase::element(int row, int column) const {
    const auto [first, second] = product_columns(column);
    const json& line = acc_[static_cast<std::size_t>(row)];
    EpilogueElement made;
    made.acc = {exactly(line[static_cast<std::size_t>(first)]), exactly(line[static_cast<std::size_t>(second)])};
    for (const EpilogueOperand& operand : epilogue_.parts().operands)
        made.operands.push_back(columns_of(operand, row, column));
    return made;
}

EpilogueCase::Cells EpilogueCase::cells(std::size_t output, const std::vector<Cells>& reduced) const {
    const std::vector<EpilogueOutput>& outputs = epilogue_.parts().outputs;
    std::map<std::pair<int, int>, ReducedValue> totals;
    Cells found;
    for (int row = 0; row < kEpilogueRows; ++row)
        for (int column = 0; column < columns(); ++column) {
            EpilogueElement one = element(row, column);
            for (std::size_t i = 0; i < reduced.size(); ++i) {
                const auto cell = reduced[i].find(cell_of(outputs[i].index, row, column));
                one.reduced.push_back(cell == reduced[i].end() ? anything() : cell->second);
            }
            const Interval value = epilogue_values(epilogue_, one)[output];
            const auto at = cell_of(outputs[output].index, row, column);
            if (outputs[output].reduction) {
                totals.try_emplace(at, *outputs[output].reduction).first->second.add(value);
            } else {
                found[at] = value;
            }
        }
    for (const auto& [at, total] : totals) found[at] = total.result();
    return found;
}

json EpilogueCase::as_json() const {
    std::vector<Cells> all;
    json outputs = json::object();
    for (std::size_t i = 0; i < epilogue_.parts().outputs.size(); ++i) {
        all.push_back(cells(i, all));
        json& list = outputs[epilogue_.parts().outputs[i].name] = json::array();
        for (const auto& [at, value] : all.back())
            list.push_back(
                {at.first, at.second, fmt::format("{}", value.low), fmt::format("{}", value.high), value.may_be_nan});
    }
    return {{"text", text_},         {"m", kEpilogueRows},  {"n", kEpilogueColumns}, {"acc", acc_},
            {"operands", operands_}, {"scalars", scalars_}, {"outputs", outputs}};
}

}  // namespace jitgemm::testing
