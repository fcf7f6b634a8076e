#include "dist/sim/watch.h"

#include <atomic>
#include <filesystem>
#include <fstream>

#include <fmt/ranges.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dist/core/start_thread.h"
#include "dist/sim/end_process.h"

namespace dist::sim {
namespace {

using namespace std::chrono_literals;
constexpr auto interval = 100ms;

std::atomic<int> watches{0};  // the library's own threads

// The threads of this process, without those of watches. Known only if the main thread simulates: otherwise
// threads that the main thread starts would count as the ranks'.
int count_threads(pid_t simulating) {
  if (simulating != ::getpid()) return 0;
  std::error_code none;
  const std::filesystem::directory_iterator tasks("/proc/self/task", none);
  if (none) return 0;
  return static_cast<int>(std::distance(begin(tasks), end(tasks))) - watches.load();
}

// The system call in which the thread is blocked; -1 if it is not, or if the system does not say.
long blocked_in(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
  long number = -1;
  return file >> number ? number : -1;  // "running" is not a number
}

bool is_sleep(long call) { return call == SYS_clock_nanosleep || call == SYS_nanosleep; }

}  // namespace

Watch::Watch(const Scheduler& scheduler, Timeout patience)
    : scheduler_(scheduler),
      patience_(patience / interval),
      watched_(static_cast<pid_t>(::syscall(SYS_gettid))),
      thread_((++watches, start_thread("the simulator's watch", [this] { loop(); }))) {
  const std::lock_guard lock(mutex_);
  threads_before_ = count_threads(watched_);  // now: a process's first thread also starts ThreadSanitizer's
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  --watches;
}

void Watch::loop() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval, [this] { return stopping_; })) look();
}

void Watch::look() {
  threads_made_ = threads_made_ || count_threads(watched_) > threads_before_;
  const auto switches = scheduler_.switches();
  const int rank = scheduler_.running_rank();
  const bool moved = std::exchange(switches_, switches) != switches;
  const long call = blocked_in(watched_);
  const bool asleep = is_sleep(call) || call == SYS_futex;
  looks_alike_ = moved ? 0 : looks_alike_ + 1;
  asleep_ = moved || !asleep ? 0 : asleep_ + 1;
  if (asleep_ == 2) (is_sleep(call) ? sleepers_ : waiters_).insert(rank);
  if (patience_ == 0 || looks_alike_ < patience_) return;
  end_process("rank {} has blocked the simulation for {} s: {}", rank, patience_ * interval / 1s,
              asleep_ > 2 ? "it really sleeps (use dist::sleep), or waits for a thread that is not a rank"
                          : "an endless loop without a call of distlab, or a very long computation");
}

std::vector<std::string> Watch::notes() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  const auto tell = [&](const std::set<int>& ranks, std::string_view what) {
    if (!ranks.empty())
      found.push_back(
          fmt::format("rank{} {} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "), what));
  };
  tell(sleepers_, "really slept: the simulation stopped and virtual time did not pass; use dist::sleep");
  tell(waiters_, "waited for another thread: the simulation stopped and virtual time did not pass");
  if (threads_made_ || count_threads(watched_) > threads_before_)
    found.emplace_back("threads were started during the simulation: they have no rank and no virtual time");
  return found;
}

}  // namespace dist::sim
