#pragma once

#include "runtime/support/file_descriptor.hpp"

#include <string>
#include <string_view>

namespace jitgemm {

/// Writes the file that a user named, whole or not at all. Links are followed; a new file or a regular one is written
/// beside, synced and renamed, with the mode and the owner that it had. Written in place is what a rename would break:
/// a device, a pipe, an open descriptor (/dev/stdout), a file of two names, one beside which nothing may be put.
/// Throws std::system_error naming `path`, also where a device is full.
void write_output_file(const std::string& path, std::string_view data);

/// Opens it for a stream of writes, in place and emptied; /dev/stdout and its like as they are. Throws likewise.
[[nodiscard]] FileDescriptor open_output_file(const std::string& path);

/// Before work whose result is to go there: throws what write_output_file would, as far as can be known without
/// touching what is there.
void require_writable(const std::string& path);

}  // namespace jitgemm
