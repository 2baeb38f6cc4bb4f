#pragma once

/// \file The includes for the struct of a family (family.hpp in its folder).

#include "generator/base/arch.hpp"
#include "generator/base/kernel_entry.hpp"
#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/candidate_group.hpp"
#include "generator/families/shared/cost_estimate.hpp"
#include "generator/families/shared/family_serves.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/shared/removed_option.hpp"
#include "generator/families/shared/sum_order.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>
