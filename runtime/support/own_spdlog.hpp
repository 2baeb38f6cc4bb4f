#pragma once

/// \file This is included before any header of spdlog. spdlog is the only library that we compile in whose namespace
/// has no version. An application with another spdlog would otherwise share our symbols under its own names.

#define spdlog jitgemm_spdlog  // NOLINT(readability-identifier-naming): the namespace's own name
