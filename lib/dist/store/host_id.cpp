#include "dist/store/host_id.h"

#include <array>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dist {

std::string host_id() {
  if (const char* given = std::getenv("DIST_HOST_ID")) return given;
  std::string boot = "?";
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat network {};
  stat("/proc/self/ns/net", &network);
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return fmt::format("{}/{}/{}", name.data(), boot, network.st_ino);
}

}  // namespace dist
