#pragma once

#include "python/src/python.hpp"

namespace jitgemm::python {

/// layout_evaluate(expression) → (kind, text): "layout", "swizzle", "tuple" or "integer", and the value as the
/// calculator prints it.
PyObject* layout_evaluate(PyObject* module, PyObject* expression);
/// layout_text(expression): of the layout that it is; a shape is its column-major one.
PyObject* layout_text(PyObject* module, PyObject* expression);
/// layout_table(expression): its values, a list of integers.
PyObject* layout_table(PyObject* module, PyObject* expression);
/// layout_picture(expression, format): text, svg, html or latex.
PyObject* layout_picture(PyObject* module, PyObject* arguments);

}  // namespace jitgemm::python
