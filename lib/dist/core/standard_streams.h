// Descriptors 0, 1 and 2: a program may be started without them (`program >&-`).
#pragma once

namespace dist {

// Opens /dev/null for reading and writing at each of them that is closed: otherwise the next file or socket
// would get the number, and printed text would go there. Programs that are started from here inherit them.
// Thread-safe only as long as no other thread closes one at the same time.
void open_standard_streams();

}  // namespace dist
