#pragma once
#include "wgmma/operand_k_major.cuh"
