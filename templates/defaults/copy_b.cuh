#pragma once
#include "multistage/copy_async.cuh"
