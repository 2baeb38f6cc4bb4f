#pragma once
#include "epilogue/store_slice_by_tma.cuh"
