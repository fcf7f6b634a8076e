// A store in one file that all ranks can reach (file:///path), append-only under a lock. Meant for one host
// or a shared file system with working locks; waiting polls, 1 ms growing to 50 ms.
#pragma once

#include <memory>
#include <string>

#include "dist/store/store.h"

namespace dist {

// Makes the file if it is missing. `expected_users` > 0: the last of that many stores to be destroyed removes
// the file, those of killed processes counted as destroyed; a file that killed users left behind, or users
// who gave up before all had come, is begun anew. A file that is no distlab store, or is damaged, is
// Error{connection} naming it.
std::shared_ptr<Store> make_file_store(const std::string& path, int expected_users = 0);

}  // namespace dist
