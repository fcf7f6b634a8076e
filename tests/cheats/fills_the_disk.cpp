// Cheat: writes files without end.
// Told: rank
#include <cstdio>
#include <string>

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor&, const dist::Tensor&) {
  const std::string megabyte(1 << 20, 'x');
  for (int i = 0;; ++i) {
    FILE* file = std::fopen(("/tmp/full-" + std::to_string(i % 4096)).c_str(), "a");
    if (file == nullptr) continue;
    std::fwrite(megabyte.data(), 1, megabyte.size(), file);
    std::fclose(file);
  }
}
