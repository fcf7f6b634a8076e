#include "dist/launch/oom_kills.h"

#include <fstream>
#include <string_view>

#include <fmt/format.h>

namespace dist {
namespace {

// The file's count; -1 if there is none.
std::int64_t read_count(const std::string& path) {
  std::ifstream file(path);
  std::string name;
  for (std::int64_t value = 0; file >> name >> value;) {
    if (name == "oom_kill") return value;
  }
  return -1;
}

// The path of this process's control group in the hierarchy of `controller` ("" for version 2); empty if
// there is none. Lines are "4:memory:/job/7".
std::string control_group(const std::string& root, std::string_view controller) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (std::string_view(line).substr(first + 1, second - first - 1) == controller)
      return line.substr(second + 1);
  }
  return "";
}

}  // namespace

// A container sees its own group as the root of the hierarchy, whatever the name is outside.
OomKills::OomKills(std::string root) {
  const std::string first = root + "/sys/fs/cgroup", second = first + "/memory";
  const std::string mine = control_group(root, ""), mine_1 = control_group(root, "memory");
  const struct {
    std::string folder;
    const char *kills, *limit;
  } places[] = {{first + mine, "/memory.events", "/memory.max"},
                {second + mine_1, "/memory.oom_control", "/memory.limit_in_bytes"},
                {first, "/memory.events", "/memory.max"},
                {second, "/memory.oom_control", "/memory.limit_in_bytes"}};
  for (const auto& place : places) {
    const std::int64_t before = read_count(place.folder + place.kills);
    if (before < 0) continue;
    counts_.push_back({place.folder + place.kills, before});
    limit_path_ = place.folder + place.limit;
    break;
  }
  const std::string machine = root + "/proc/vmstat";
  if (const std::int64_t before = read_count(machine); before >= 0) counts_.push_back({machine, before});
}

std::string OomKills::explain() const {
  constexpr std::int64_t no_limit = std::int64_t{1} << 60;  // version 1 writes a number near 2^63
  for (const Count& count : counts_) {
    if (read_count(count.path) <= count.before) continue;
    std::int64_t limit = no_limit;
    const bool is_limited = std::ifstream(limit_path_) >> limit && limit < no_limit;
    return fmt::format(
        ", probably by the kernel's out-of-memory killer: memory ran out{}; use fewer ranks, or less memory "
        "per "
        "rank",
        is_limited ? fmt::format(" (the limit of this control group is {} MiB)", limit >> 20) : "");
  }
  return "";
}

}  // namespace dist
