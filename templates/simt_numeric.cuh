#pragma once
// An element of A or B as f32.
#include "input_to_float.inl"
