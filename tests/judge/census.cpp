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

using Clock = std::chrono::steady_clock;

// A file of proc(5), as far as it fits in `buffer`: a process may go at any moment.
template <std::size_t size>
std::string_view text_of(const fs::path& path, std::array<char, size>& buffer) {
  const dist::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto got = ::read(file.get(), buffer.data(), buffer.size());
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

// What proc(5) calls stat, of a process or of a thread.
struct Stat {
  char state = '-';
  pid_t parent = 0;
  long ticks = 0;  // worked, with children that have ended
};

// A process that has gone has no state.
Stat stat_of(const fs::path& folder) {
  std::array<char, 1024> buffer{};
  const std::string text(text_of(folder / "stat", buffer));
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

// Calls see(number, folder, the states in which it is awake) for each thread until that returns false. A
// thread of this process that waits for a disk is awake, too.
template <class See>
void for_each_thread(const std::vector<pid_t>& processes, See see) {
  bool go_on = true;
  const auto in = [&](const fs::path& process, std::string_view awake) {
    for_each_in(process / "task", [&](pid_t thread, const fs::path& folder) {
      if (go_on) go_on = see(thread, folder, awake);
    });
  };
  in("/proc/self", "RD");
  for (const pid_t process : processes) in(fs::path("/proc") / std::to_string(process), "R");
}

bool has_thread_awake(const std::vector<pid_t>& processes) {
  bool found = false;
  for_each_thread(processes, [&](pid_t thread, const fs::path& folder, std::string_view awake) {
    found = thread != ::gettid() && awake.find(stat_of(folder).state) != awake.npos;
    return !found;
  });
  return found;
}

using Clocks = std::map<pid_t, std::chrono::nanoseconds>;

Clocks ran_by(const std::vector<pid_t>& processes) {
  Clocks ran;
  for_each_thread(processes, [&](pid_t thread, const fs::path& folder, std::string_view) {
    std::array<char, 128> buffer{};
    std::istringstream fields{std::string(text_of(folder / "schedstat", buffer))};
    long long worked = 0, waited = 0;
    if (fields >> worked >> waited) ran[thread] = std::chrono::nanoseconds(worked + waited);
    return true;
  });
  return ran;
}

std::chrono::nanoseconds sum_between(const Clocks& earlier, const Clocks& later, pid_t but = 0) {
  std::chrono::nanoseconds sum{0};
  for (const auto& [thread, ran] : later) {
    const auto before = earlier.find(thread);
    const bool is_new =
        before == earlier.end() || before->second > ran;  // or has the number of one that has ended
    if (thread != but) sum += is_new ? ran : ran - before->second;
  }
  return sum;
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
  std::vector<pid_t> theirs;
  long ticks = 0;
  for (const auto& [number, stat] : all) {
    if (!belongs(number)) continue;
    ticks += stat.ticks;
    theirs.push_back(number);
  }
  Census census{.worked = std::chrono::milliseconds(ticks * 1000 / ::sysconf(_SC_CLK_TCK))};
  census.is_awake = has_thread_awake(theirs);
  census.ran = ran_by(theirs);
  if (census.is_awake) return census;
  const auto began = Clock::now();
  census.is_awake = has_thread_awake(theirs);
  const auto took = Clock::now() - began;
  const auto meanwhile = sum_between(census.ran, ran_by(theirs), ::gettid());
  census.is_awake = census.is_awake || meanwhile >= took / 2 || has_thread_awake(theirs);
  return census;
}

std::chrono::nanoseconds ran_between(const Census& earlier, const Census& later) {
  return sum_between(earlier.ran, later.ran);
}

}  // namespace judge
