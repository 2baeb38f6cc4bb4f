#pragma once
#include "epilogue/stage_slice_16_bits.cuh"
