#pragma once
#include "../operand_k_major.cuh"
