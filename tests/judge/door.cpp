// judge_door: see door.h. System calls only, and linked statically: it sees what a graded process sees.
#include "judge/door.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/filter.h"

namespace {

constexpr int cannot = 127;  // with which a shell exits, too, if it finds no such command

struct Orders {
  bool is_rank;
  uid_t user;
  rlim_t processes, work_s, memory_bytes, file_bytes, descriptors;
  char** command;
};

rlim_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  ::setrlimit(resource, &both);
}

void take_on_limits(const Orders& orders) {
  limit(RLIMIT_CPU,
        orders.work_s);  // the process that watches it stops it sooner; this holds where none does
  limit(RLIMIT_AS, orders.memory_bytes);
  limit(RLIMIT_FSIZE, orders.file_bytes);
  limit(RLIMIT_NOFILE, orders.descriptors);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_MEMLOCK, 0);
  limit(RLIMIT_MSGQUEUE, 0);
  if (orders.processes > 0) limit(RLIMIT_NPROC, orders.processes);
}

// Root's capabilities go with its number; none can come back.
bool become_user(uid_t user) {
  constexpr int last_capability = 63;
  for (int capability = 0; capability <= last_capability; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (user != 0 && (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 ||
                    ::setresuid(user, user, user) != 0))
    return false;
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// The command's words, at an address that is unknown afterwards: with it alone the filter lets a program be
// started.
char** hidden(char** command) {
  constexpr std::size_t room = 4096;
  constexpr std::uint64_t within = 0x3FFF'FFFF'F000;  // of an address space of 47 bits
  std::size_t count = 1;
  while (command[count - 1] != nullptr) ++count;
  if (count * sizeof(char*) > room) return nullptr;
  for (int tries = 0; tries < 16; ++tries) {
    std::uint64_t at = 0;
    if (::getrandom(&at, sizeof at, 0) != sizeof at) return nullptr;
    void* const page = ::mmap(reinterpret_cast<void*>(at & within), room, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED) continue;
    std::memcpy(page, command, count * sizeof(char*));
    return static_cast<char**>(page);
  }
  return nullptr;
}

[[noreturn]] void become_command(const Orders& orders) {
  ::close_range(judge::report_fd, judge::report_fd, 0);
  char** const command = orders.is_rank ? hidden(orders.command) : orders.command;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a fork has none
  take_on_limits(orders);
  if (command != nullptr && (!orders.is_rank || judge::filter_system_calls(command)))
    ::execve(orders.command[0], command, environ);
  ::_exit(cannot);
}

// Outside of the filter, and not to be looked into by the process.
int stay(const Orders& orders) {
  const int memory = ::memfd_create("tensors", MFD_CLOEXEC);
  const pid_t child = ::fork();
  if (child < 0) return cannot;
  if (child == 0) {
    if (memory >= 0 && memory != judge::memory_fd) ::dup2(memory, judge::memory_fd);
    if (memory == judge::memory_fd) ::fcntl(memory, F_SETFD, 0);
    ::close_range(judge::memory_fd + 1, ~0U, 0);
    become_command(orders);
  }
  for (const int fd : {0, 1, 2, 3, 4, memory}) ::close(fd);  // so that their ends are seen
  judge::DoorReport report;
  rusage used{};
  while (::wait4(child, &report.status, 0, &used) < 0 && errno == EINTR) {
  }
  report.peak_kib = used.ru_maxrss;
  if (::write(judge::report_fd, &report, sizeof report) != sizeof report) return cannot;
  constexpr int by_signal = 128;
  return WIFSIGNALED(report.status) ? by_signal + WTERMSIG(report.status) : WEXITSTATUS(report.status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return 0;
  if (argc <= judge::door_arguments) return cannot;
  const Orders orders{.is_rank = std::strcmp(argv[1], "rank") == 0,
                      .user = static_cast<uid_t>(number(argv[2])),
                      .processes = number(argv[3]),
                      .work_s = number(argv[4]),
                      .memory_bytes = number(argv[5]),
                      .file_bytes = number(argv[6]),
                      .descriptors = number(argv[7]),
                      .command = argv + judge::door_arguments};
  if (!become_user(orders.user)) return cannot;
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user has forgotten it
  if (orders.is_rank) return stay(orders);
  become_command(orders);
}
