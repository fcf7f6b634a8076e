// Memory that processes share, as a file that has no name in any file system.
#pragma once

#include <cstddef>

#include "dist/core/handles.h"

namespace dist {

// A file of zeros (memfd_create). Throws Error{resource}, which names the limit that was hit: a filter of
// system calls, or the size of files (RLIMIT_FSIZE, beyond which the system would raise SIGXFSZ).
UniqueFd make_memory_file(const char* name, std::size_t bytes);

}  // namespace dist
