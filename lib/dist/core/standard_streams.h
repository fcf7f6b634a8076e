// The descriptors 0, 1 and 2, which a program may be started without (`program >&-`).
#pragma once

namespace dist {

// Opens /dev/null for reading and writing at those of them that are closed: otherwise the next file or socket
// would take the number, and what is printed would go there. Programs that are started from here inherit
// them. Thread-safe only as far as no other thread closes one meanwhile.
void open_standard_streams();

}  // namespace dist
