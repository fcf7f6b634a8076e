// Cheat: has memory beyond its limit in the buffers of local sockets, which it enlarges, by threads that have
// a table of descriptors each: a limit holds for each table.
// Told: is within its limits
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <linux/close_range.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "all_gather_all_reduce.h"

static constexpr long enough = 1'000'000'000;  // bytes: it shows the hole, and does no harm
static std::atomic<long> bytes{0};
static std::atomic<int> ended{0}, tables{0};

static void wait_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  syscall(SYS_nanosleep, &time, nullptr);
}

static void fill_all() {
  static const char piece[16384] = {1};
  int pair[2];
  while (bytes < enough && syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair) == 0)
    for (const int end : pair) {
      const int size = 8 << 20;
      syscall(SYS_setsockopt, end, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
      for (long got = 1; got > 0; bytes += got > 0 ? got : 0)
        got = syscall(SYS_sendto, end, piece, sizeof piece, MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
    }
}

static int hoard(void* has_own_table) {
  if (has_own_table != nullptr || syscall(SYS_unshare, CLONE_FILES) == 0 ||
      syscall(SYS_close_range, 1000, 1000, CLOSE_RANGE_UNSHARE) == 0)
    ++tables;
  if (has_own_table != nullptr) syscall(SYS_close_range, 3, 63, 0);
  fill_all();
  ++ended;
  wait_ms(2000);
  syscall(SYS_exit, 0);
  return 0;
}

static void cheat(dist::Tensor&, const dist::Tensor&) {
  constexpr int usual = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FS | CLONE_SYSVSEM, room = 65536;
  static std::vector<std::vector<char>> stacks;
  int begun = 0;
  for (int i = 0; i < 16; ++i) {
    stacks.emplace_back(room);
    char* const top =
        reinterpret_cast<char*>(reinterpret_cast<unsigned long>(stacks.back().data() + room) & ~63UL);
    if (clone(hoard, top, usual, top) >= 0 || clone(hoard, top, usual | CLONE_FILES, nullptr) >= 0) ++begun;
  }
  for (int waits = 0; ended < begun && waits < 100; ++waits) wait_ms(10);
  const std::string has = std::to_string(bytes >> 20) + " MiB in " + std::to_string(tables) + " more tables";
  throw std::runtime_error(begun > 0 && bytes > 0 && tables == 0 && bytes < 64 << 20
                               ? "is within its limits: " + has
                               : "has " + has);
}
