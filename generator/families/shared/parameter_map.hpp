#pragma once

#include <map>
#include <string>

namespace jitgemm {

/// Fixed parameters, `--param stages=4,block=128x256x32`: name → text. Names are those of the family's parameter table.
using ParameterMap = std::map<std::string, std::string, std::less<>>;

}  // namespace jitgemm
