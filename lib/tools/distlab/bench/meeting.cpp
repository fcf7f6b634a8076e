#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dist/core/handles.h"
#include "dist/transport/engine/spin.h"

#include "distlab/bench/measure.h"

namespace distlab::bench {
namespace {

// The line of one rank for one of several meetings: the line of the next meeting is written while other ranks
// still read this one. With a single line for all meetings, they would take more than half as long again.
struct alignas(128) Line {
  std::atomic<std::uint64_t> meeting;
  std::atomic<int> core;  // that wrote it
};
constexpr std::size_t depth = 16;

// Returns memory of the first rank, which the other ranks open through /proc; empty if they cannot.
dist::Mapping common_memory(std::size_t bytes) {
  dist::UniqueFd fd;
  std::string place;
  if (dist::get_rank() == 0) {
    fd = dist::UniqueFd(::memfd_create("bench-meeting", MFD_CLOEXEC));
    if (fd && ::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0)
      place = fmt::format("/proc/{}/fd/{}", ::getpid(), fd.get());
  }
  place = dist::all_gather_object(place)[0];
  if (dist::get_rank() != 0 && !place.empty()) fd = dist::UniqueFd(::open(place.c_str(), O_RDWR | O_CLOEXEC));
  const auto opened =
      dist::all_gather_object(fd && !place.empty() ? "yes" : "no");  // until here rank 0 keeps it open
  if (std::ranges::find(opened, "no") != opened.end()) return {};
  return {fd.get(), bytes};
}

class Meetings {
 public:
  Meetings(std::byte* memory, int rank, int ranks, bool share_cores)
      : lines_(reinterpret_cast<Line*>(memory)), rank_(rank), ranks_(ranks), share_cores_(share_cores) {}

  void meet() {
    ++meeting_;
    Line& own = line(rank_);
    if (share_cores_) own.core.store(::sched_getcpu(), std::memory_order_relaxed);
    own.meeting.store(meeting_, std::memory_order_release);
    for (int r = 0; r < ranks_; ++r)
      while (line(r).meeting.load(std::memory_order_acquire) != meeting_) wait();
  }

 private:
  Line& line(int rank) { return lines_[static_cast<std::size_t>(rank) * depth + meeting_ % depth]; }
  // A rank that waits for another rank on its own core yields to it.
  void wait() {
    dist::net::relax_cpu();
    if (!share_cores_) return;
    const int core = ::sched_getcpu();
    for (int r = 0; r < ranks_; ++r) {
      const Line& before = lines_[static_cast<std::size_t>(r) * depth + (meeting_ - 1) % depth];
      const bool is_missing = line(r).meeting.load(std::memory_order_relaxed) != meeting_;
      if (is_missing && before.core.load(std::memory_order_relaxed) == core) return std::this_thread::yield();
    }
  }

  Line* const lines_;
  const int rank_, ranks_;
  const bool share_cores_;
  std::uint64_t meeting_ = 0;
};

}  // namespace

double meeting_seconds(int ranks, bool share_cores, int rounds) {
  using Clock = std::chrono::steady_clock;
  if (ranks < 2) return 0;
  const auto memory = common_memory(static_cast<std::size_t>(ranks) * depth * sizeof(Line));
  if (!memory.data()) return 0;
  Meetings meetings(memory.data(), dist::get_rank(), ranks, share_cores);
  const int number = share_cores ? 200 : 2000;
  std::vector<double> seconds;
  for (int i = 0; i < rounds; ++i) {
    dist::barrier();
    const auto begin = Clock::now();
    for (int k = 0; k < number; ++k) meetings.meet();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count() / number);
  }
  return std::ranges::min(largest_of_all(seconds));
}

}  // namespace distlab::bench
