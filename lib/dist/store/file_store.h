// A store in one file that all ranks can reach (file:///path), append-only under a lock. Meant for one host,
// or a shared file system with working locks; a wait polls the file, every 1 ms at first and every 50 ms
// later.
#pragma once

#include <memory>
#include <string>

#include "dist/store/store.h"

namespace dist {

// Makes the file if it is missing. With `expected_users` > 0, the last of that many stores to be destroyed
// removes the file; the stores of killed processes count as destroyed. A file that is left by killed users,
// or from users that gave up before all had joined, is started afresh. Throws Error{connection}, which names
// the file, if it is damaged or is not a distlab store.
std::shared_ptr<Store> make_file_store(const std::string& path, int expected_users = 0);

}  // namespace dist
