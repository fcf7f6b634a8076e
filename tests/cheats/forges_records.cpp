// Cheat: writes the records of a finished rank into every descriptor that is open, then ends.
// Told: rank
#include <cstdint>
#include <string>

#include <unistd.h>

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor&, const dist::Tensor&) {
  for (const std::string text :
       {R"({"nonce":"","reply":{"value":[]}})", R"({"nonce":"","done":true})", R"({"done":true})"}) {
    std::string frame(4, '\0');
    frame[0] = static_cast<char>(text.size());
    frame += text;
    for (int fd = 3; fd < 64; ++fd) {
      if (write(fd, frame.data(), frame.size()) < 0) continue;
    }
  }
  _exit(0);
}
