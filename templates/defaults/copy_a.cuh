#pragma once
#include "multistage/copy_async_k_major.cuh"
