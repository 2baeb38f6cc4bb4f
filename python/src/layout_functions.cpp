#include "python/src/layout_functions.hpp"

#include "generator/draw/layout_pictures.hpp"
#include "generator/layout/layout_expression.hpp"
#include "python/src/errors.hpp"

#include <fmt/format.h>

namespace jitgemm::python {
namespace {

const char* kind_of(const LayoutValue& value) {
    if (std::holds_alternative<ComposedLayout>(value.variant())) return "layout";
    if (std::holds_alternative<Swizzle>(value.variant())) return "swizzle";
    return value.is_int_tuple() && value.as_int_tuple().is_integer() ? "integer" : "tuple";
}

std::string drawn(const Picture& picture, std::string_view format) {
    if (format == "svg") return picture_svg(picture);
    if (format == "html") return picture_html(picture);
    if (format == "latex") return picture_latex(picture);
    return picture_text(picture);
}

}  // namespace

PyObject* layout_evaluate(PyObject* /*module*/, PyObject* expression) {
    return guarded([&] {
        const LayoutValue value = evaluate_layout_expression(text_of(expression, "a layout"));
        return Py_BuildValue("sN", kind_of(value), text(to_string(value)).release());
    });
}

PyObject* layout_text(PyObject* /*module*/, PyObject* expression) {
    return guarded([&] {
        return text(to_string(evaluate_layout_expression(text_of(expression, "a layout")).as_composed())).release();
    });
}

PyObject* layout_table(PyObject* /*module*/, PyObject* expression) {
    return guarded([&] {
        const ComposedLayout layout = evaluate_layout_expression(text_of(expression, "a layout")).as_composed();
        Ref list = Ref::owned(PyList_New(0));
        for (const std::int64_t value : table(layout))
            check(PyList_Append(list.get(), Ref::owned(PyLong_FromLongLong(value)).get()));
        return list.release();
    });
}

PyObject* layout_picture(PyObject* /*module*/, PyObject* arguments) {
    return guarded([&] {
        PyObject *expression = nullptr, *format = nullptr;
        if (PyArg_ParseTuple(arguments, "UU", &expression, &format) == 0) throw PythonError{};
        const LayoutValue value = evaluate_layout_expression(text_of(expression, "a layout"));
        return text(drawn(jitgemm::layout_picture(value.as_composed()), text_of(format, "format"))).release();
    });
}

}  // namespace jitgemm::python
