#pragma once
#include "common/realign.cuh"

using PackedElement = Bits;
#include "common/packing.cuh"
