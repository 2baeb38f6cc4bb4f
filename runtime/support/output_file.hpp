#pragma once

#include "runtime/support/file_descriptor.hpp"

#include <string>
#include <string_view>

namespace jitgemm {

/// Writes the file that a user named, whole or not at all. Links are followed. A new or regular file is written beside,
/// synced and renamed, and keeps its mode and owner. A file that a rename would break is written in place: a device, a
/// pipe, an open descriptor (/dev/stdout), a file with two names, or one in a folder that takes no new file. Throws
/// std::system_error with `path`, also if a device is full.
void write_output_file(const std::string& path, std::string_view data);

/// Opens it for a stream of writes, in place and emptied; /dev/stdout and similar files are opened as they are. Throws
/// as above.
[[nodiscard]] FileDescriptor open_output_file(const std::string& path);

/// It is called before work whose result goes there. Throws the errors of write_output_file, as far as they show
/// without a change.
void require_writable(const std::string& path);

}  // namespace jitgemm
