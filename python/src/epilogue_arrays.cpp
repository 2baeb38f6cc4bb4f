#include "python/src/epilogue_arrays.hpp"

#include "generator/epilogue/epilogue.hpp"
#include "generator/epilogue/names.hpp"
#include "generator/epilogue/parse.hpp"
#include "generator/text/nearest_name.hpp"
#include "python/src/errors.hpp"
#include "python/src/factor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace jitgemm::python {
namespace {

/// Operands by the names that a call gives them.
class GivenOperands {
public:
    GivenOperands(const Keywords& keywords, PyObject* named) {
        for (const Keyword& keyword : keywords) add(keyword.name, keyword.value);
        if (named == nullptr || named == Py_None) return;
        if (PyDict_Check(named) == 0)
            throw OperandError(
                "invalid operands",
                {fmt::format("operands is of type {}: a dict of names and arrays is expected", type_name(named))});
        PyObject *name = nullptr, *value = nullptr;
        Py_ssize_t position = 0;
        while (PyDict_Next(named, &position, &name, &value) != 0) add(name, value);
    }

    /// Null where it is not given.
    [[nodiscard]] PyObject* find(std::string_view name) const {
        const auto found = std::ranges::find(all_, name, &Given::name);
        return found == all_.end() ? nullptr : found->value.get();
    }

    /// Throws where names are missing, or where the formula has none of a name.
    void check_names(const Formula& formula) const {
        std::vector<std::string> reasons;
        std::vector<std::string> missing;
        for (const EpilogueOperand& operand : formula.operands)
            if (!is_launch_scalar(operand.name) && find(operand.name) == nullptr) missing.push_back(text_of(operand));
        if (!missing.empty())
            reasons.push_back(
                fmt::format("{} missing: give each operand of the epilogue by its name", fmt::join(missing, ", ")));
        add_superfluous(formula, reasons);
        if (!reasons.empty())
            throw OperandError(fmt::format("operands of the epilogue '{}'", formula.text), std::move(reasons));
    }

private:
    struct Given {
        Ref word;
        Ref value;
        std::string_view name;
    };

    void add(PyObject* name, PyObject* value) {
        const std::string_view word = jitgemm::python::text_of(name, "a name in operands");
        if (find(word) != nullptr)
            throw OperandError("invalid operands",
                               {fmt::format("{} is given twice: by keyword and in operands", word)});
        all_.push_back({Ref::borrowed(name), Ref::borrowed(value), word});
    }

    static std::string text_of(const EpilogueOperand& operand) {
        return operand.is_scalar ? operand.name : with_index(operand.name, operand.index);
    }

    void add_superfluous(const Formula& formula, std::vector<std::string>& reasons) const {
        std::vector<std::string_view> known;
        for (const EpilogueOperand& operand : formula.operands) known.push_back(operand.name);
        for (const EpilogueOutput& output : formula.outputs)
            if (is_beside_d(output)) known.push_back(output.name);
        for (const Given& given : all_)
            if (std::ranges::find(known, given.name) == known.end())
                reasons.push_back(given.name == "d" ? "d is given, but it is no operand: pass out= to say where d goes"
                                                    : fmt::format("{0} is given, but the epilogue reads no '{0}'{1}",
                                                                  given.name, nearest_hint(given.name, known)));
    }

    std::vector<Given> all_;
};

[[noreturn]] void refuse_scalar(PyObject* object, const char* name) {
    throw OperandError("invalid operand",
                       {fmt::format("{0} is of type {1}, but the epilogue reads it as a scalar of the launch: give a "
                                    "number, or read an array as {0}[0]",
                                    name, type_name(object))});
}

float launch_scalar(PyObject* object, const char* name) {
    if (object == Py_None) refuse_scalar(object, name);
    try {
        return factor_of(object, name, 0);
    } catch (const PythonError&) {
        if (PyErr_Occurred() != PyExc_TypeError) throw;
        PyErr_Clear();
        refuse_scalar(object, name);
    }
}

void read_array(PyObject* object, const char* title, PyObject* stream, const Operand& first, Operand& array) {
    read_operand(object, title, stream, array, &first);
    check_readable_type(array);
}

EpilogueArray read_given(const Formula& formula, std::size_t place, PyObject* object, PyObject* stream,
                         const Operand& first) {
    EpilogueArray given;
    if (object == nullptr) return given;
    given.held = Ref::borrowed(object);
    const char* const title = formula.titles[place].c_str();
    if (formula.operands[place].is_scalar)
        given.value = launch_scalar(object, title);
    else
        read_array(object, title, stream, first, given.array);
    return given;
}

EpilogueArray read_output(const EpilogueOutput& output, PyObject* object, PyObject* stream, const Operand& first) {
    EpilogueArray given;
    if (!is_beside_d(output) || object == nullptr || object == Py_None) return given;
    given.held = Ref::borrowed(object);
    read_operand(object, output.name.c_str(), stream, given.array, &first);
    check_writable(given.array);
    return given;
}

/// Operands are the same whatever type D has. Where a text declares it, no other is right.
DataType declared_d(std::string_view text) {
    EpilogueProblems unread;
    for (const Statement& statement : parse_epilogue(text, unread))
        if (statement.name == "d" && statement.type) return *statement.type;
    return DataType::bf16;
}

/// An array that is called "out" has the rules of an array that is written.
std::string title_of(const std::string& name) { return name == "out" ? "operands['out']" : name; }

}  // namespace

const Formula& formula_of(std::string_view text) {
    static auto& known = *new std::map<std::string, Formula, std::less<>>;  // guarded by the GIL
    const auto found = known.find(text);
    if (found != known.end()) return found->second;
    const Epilogue meaning = read_epilogue(text, {.d = declared_d(text)});
    Formula formula{.text = std::string(text),
                    .operands = meaning.parts().operands,
                    .titles = {},
                    .has_pairs = meaning.parts().pairs != EpiloguePairs::none,
                    .outputs = meaning.parts().outputs};
    for (const EpilogueOperand& operand : formula.operands) formula.titles.push_back(title_of(operand.name));
    return known.emplace(text, std::move(formula)).first->second;
}

std::unique_ptr<EpilogueArrays> read_epilogue_arrays(const Formula& formula, const Keywords& keywords, PyObject* named,
                                                     PyObject* stream, const Operand& first) {
    const GivenOperands given(keywords, named);
    given.check_names(formula);
    auto arrays = std::make_unique<EpilogueArrays>(EpilogueArrays{.formula = &formula, .operands = {}, .outputs = {}});
    arrays->operands.reserve(formula.operands.size());
    for (std::size_t i = 0; i < formula.operands.size(); ++i)
        arrays->operands.push_back(read_given(formula, i, given.find(formula.operands[i].name), stream, first));
    arrays->outputs.reserve(formula.outputs.size());
    for (const EpilogueOutput& output : formula.outputs)
        arrays->outputs.push_back(read_output(output, given.find(output.name), stream, first));
    return arrays;
}

const EpilogueArray* EpilogueArrays::find(std::string_view name) const {
    const auto place = std::ranges::find(formula->operands, name, &EpilogueOperand::name) - formula->operands.begin();
    return static_cast<std::size_t>(place) == operands.size() ? nullptr : &operands[static_cast<std::size_t>(place)];
}

void add_operands(const EpilogueArrays& arrays, OperandArguments& arguments) {
    for (std::size_t i = 0; i < arrays.operands.size(); ++i) {
        const EpilogueOperand& operand = arrays.formula->operands[i];
        const EpilogueArray& given = arrays.operands[i];
        if (!operand.is_scalar)
            arguments.set({operand.name, given.array.data});
        else if (!is_launch_scalar(operand.name))
            arguments.set({operand.name, given.value.value_or(0)});
    }
    for (std::size_t i = 0; i < arrays.outputs.size(); ++i)
        if (const EpilogueOutput& output = arrays.formula->outputs[i]; is_beside_d(output))
            arguments.set({output.name, arrays.outputs[i].array.data});
}

}  // namespace jitgemm::python
