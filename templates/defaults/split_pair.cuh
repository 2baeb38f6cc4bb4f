#pragma once
#include "common/split_pair_f16.cuh"
