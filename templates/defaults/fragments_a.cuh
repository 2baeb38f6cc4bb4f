#pragma once
#include "../fragments_k_major.cuh"
