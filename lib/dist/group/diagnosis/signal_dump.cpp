// SIGUSR1 for flight_dump.h. The handler (on_signal) only writes to an eventfd; the thread of a Listener, one
// per process, then dumps the logs of all ranks of the process. SignalDump adds and removes a log.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include "dist/core/forks.h"
#include "dist/core/log.h"
#include "dist/group/diagnosis/flight_dump.h"

namespace dist {
namespace {

std::atomic<int> signalled_fd{-1};
std::atomic<std::uint32_t> signalled_forks{0};  // forks_before() when the descriptor was made

// A forked child has the descriptor and the handler of its parent, but a signal to the child is not for the
// rank.
void on_signal(int) {
  if (signalled_forks != forks_before()) return;
  const int before = errno;
  const std::uint64_t one = 1;
  if (const int fd = signalled_fd.load(); fd >= 0) {
    [[maybe_unused]] const auto written = write(fd, &one, sizeof one);
  }
  errno = before;
}

// Each signal has a folder of its own: the rank that makes it says where it is.
void dump_by_signal(const std::string& folder, const FlightLog& log) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  const bool is_first = std::filesystem::create_directory(folder, error);
  if (is_first)
    std::fprintf(stderr,
                 "rank %d: SIGUSR1: flight records in %s (DIST_DUMP_DIR names another folder; to end a run "
                 "before its time is up, use ./distlab train --stop-signal, or handle the signal)\n",
                 log.rank, folder.c_str());
  dump_into(folder, log, "SIGUSR1");
}

// All logs of this process. The thread that waits for the signal is started by the first one and stays until
// the process ends, asleep: ending it earlier would race with a signal that is just arriving.
class Listener {
 public:
  // A forked child gets a new one, because the parent's thread does not exist there.
  static Listener& of_this_process() {
    static std::mutex mutex;
    static Listener* current = nullptr;  // never destroyed
    std::lock_guard lock(mutex);
    if (!current || current->pid_ != getpid()) current = new Listener;
    return *current;
  }

  void add(std::shared_ptr<const FlightLog> log, std::string folder) {
    std::lock_guard lock(mutex_);
    logs_.push_back({std::move(log), std::move(folder)});
  }

  void remove(const std::shared_ptr<const FlightLog>& log) {
    std::lock_guard lock(mutex_);
    std::erase_if(logs_, [&](const Listed& each) { return each.log == log; });
  }

 private:
  Listener() {
    struct sigaction present {};
    sigaction(SIGUSR1, nullptr, &present);
    if (present.sa_handler != SIG_DFL && present.sa_handler != on_signal) return;  // the program's own
    const int fd = eventfd(0, EFD_CLOEXEC);
    if (fd < 0) {
      log(LogLevel::warn, "no flight record on SIGUSR1: {}", std::strerror(errno));
      return;
    }
    try {
      std::thread([this, fd] { loop(fd); }).detach();
    } catch (const std::system_error& error) {
      close(fd);
      log(LogLevel::warn, "no flight record on SIGUSR1: {}", error.what());
      return;
    }
    signalled_fd = fd;
    signalled_forks = forks_before();
    struct sigaction ours {};
    ours.sa_handler = on_signal;
    ours.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &ours, nullptr);
  }

  void loop(int fd) {
    while (true) {
      std::uint64_t count = 0;
      if (read(fd, &count, sizeof count) < 0) {
        if (errno == EINTR) continue;
        return;
      }
      std::lock_guard lock(mutex_);
      ++signals_;
      for (const Listed& each : logs_) {
        if (each.log->directory.empty())
          dump_by_signal(fmt::format("{}/{}", each.folder, signals_), *each.log);
        else
          dump(*each.log, "SIGUSR1");
      }
    }
  }

  struct Listed {
    std::shared_ptr<const FlightLog> log;
    std::string folder;
  };
  const pid_t pid_ = getpid();
  std::mutex mutex_;  // guards logs_
  std::vector<Listed> logs_;
  int signals_ = 0;  // how many have come
};

}  // namespace

SignalDump::SignalDump(std::shared_ptr<const FlightLog> log, const std::string& job)
    : log_(std::move(log)),
      folder_((std::filesystem::temp_directory_path() / ("distlab_flight_" + job.substr(0, 12))).string()) {
  Listener::of_this_process().add(log_, folder_);
}

SignalDump::~SignalDump() { Listener::of_this_process().remove(log_); }

}  // namespace dist
