#pragma once
#include "wgmma/fragments_k_major.cuh"
