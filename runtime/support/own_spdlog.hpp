#pragma once

/// \file Included before any header of spdlog, which alone of what we compile into our libraries has no version in its
/// namespace: an application with another spdlog would otherwise share our symbols under its own's names.

#define spdlog jitgemm_spdlog  // NOLINT(readability-identifier-naming): the namespace's own name
