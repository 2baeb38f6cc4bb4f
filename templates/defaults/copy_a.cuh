#pragma once
#include "../copy_async_k_major.cuh"
