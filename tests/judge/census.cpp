#include "judge/census.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "dist/core/handles.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

// What proc(5) calls stat, of a process or of a thread.
struct Stat {
  char state = '-';
  pid_t parent = 0;
  long ticks = 0;  // worked, with children that have ended
};

// A process that has gone has no state.
Stat stat_of(const fs::path& folder) {
  std::array<char, 1024> buffer{};
  const dist::UniqueFd file(::open((folder / "stat").c_str(), O_RDONLY | O_CLOEXEC));
  const auto got = ::read(file.get(), buffer.data(), buffer.size());  // it may go at any moment
  const std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const auto name_end = text.rfind(')');  // a process may call itself what it likes
  if (name_end == text.npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  Stat stat;
  fields >> stat.state >> stat.parent;
  constexpr int between = 9;
  std::string skipped;
  for (int i = 0; i < between; ++i) fields >> skipped;
  for (long ticks = 0, i = 0; i < 4 && fields >> ticks; ++i) stat.ticks += ticks;
  return stat;
}

// Calls `see` with the number and the folder of each process, or of each thread of one.
template <class See>
void for_each_in(const fs::path& folder, See see) {
  std::error_code gone;
  for (fs::directory_iterator entry(folder, gone), end; !gone && entry != end; entry.increment(gone)) {
    const std::string name = entry->path().filename();
    pid_t number = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && rest == name.data() + name.size()) see(number, entry->path());
  }
}

bool has_thread_awake(const fs::path& process, std::string_view states, pid_t but = 0) {
  bool found = false;
  for_each_in(process / "task", [&](pid_t thread, const fs::path& folder) {
    if (found || thread == but) return;
    found = states.find(stat_of(folder).state) != states.npos;
  });
  return found;
}

}  // namespace

Census census_of(const std::vector<pid_t>& processes) {
  std::map<pid_t, Stat> all;
  for_each_in("/proc", [&](pid_t number, const fs::path& folder) { all.emplace(number, stat_of(folder)); });
  const auto belongs = [&](pid_t number) {
    for (auto found = all.find(number); found != all.end(); found = all.find(found->second.parent)) {
      if (std::ranges::find(processes, found->first) != processes.end()) return true;
    }
    return false;
  };
  Census census;
  long ticks = 0;
  census.is_awake = has_thread_awake("/proc/self", "RD", ::gettid());
  for (const auto& [number, stat] : all) {
    if (!belongs(number)) continue;
    ticks += stat.ticks;
    census.is_awake = census.is_awake || has_thread_awake(fs::path("/proc") / std::to_string(number), "R");
  }
  census.worked = std::chrono::milliseconds(ticks * 1000 / ::sysconf(_SC_CLK_TCK));
  return census;
}

}  // namespace judge
