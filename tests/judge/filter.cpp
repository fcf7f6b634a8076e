#include "judge/filter.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace judge {
namespace {

#ifdef __x86_64__
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "which system calls a graded process may make is known for x86-64 and ARM64"
#endif

// Calls that are allowed with any arguments. What they reach is bounded elsewhere: files by the sandbox;
// memory, time and descriptors by limits; and the process has only the sockets that it was given.
constexpr int harmless[] = {
    // memory
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    // what it has open
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_lseek,
    SYS_close,
    SYS_dup,
    SYS_dup3,
    SYS_fstat,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fsync,
    SYS_fdatasync,
    SYS_getdents64,
    SYS_pipe2,
    SYS_eventfd2,
    SYS_ppoll,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    // files of its sandbox
    SYS_openat,
    SYS_newfstatat,
    SYS_statx,
    SYS_faccessat,
    SYS_readlinkat,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_getcwd,
    SYS_statfs,
    SYS_fstatfs,
    SYS_umask,
    // the sockets that it was given
    SYS_sendto,
    SYS_recvfrom,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_shutdown,
    SYS_getsockopt,
    SYS_getsockname,
    SYS_getpeername,
    // threads, signals to itself, time
    SYS_set_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_tgkill,
    SYS_restart_syscall,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_times,
    SYS_getrandom,
    SYS_exit,
    SYS_exit_group,
    // who and where it is
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_uname,
    SYS_getcpu,
#ifdef __x86_64__
    // as older libraries say the same
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_rename,
    SYS_poll,
    SYS_dup2,
    SYS_pipe,
    SYS_getdents,
    SYS_time,
    SYS_arch_prctl,
    SYS_epoll_wait,
#else
    SYS_renameat,
#endif
};

// A program for the kernel's small machine, made as it is read.
class Program {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void load_argument(int i) { load(low(i)); }  // its lower half
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits); }
  void answer(std::uint32_t what) { add(BPF_RET | BPF_K, what); }
  void refuse(std::uint32_t error = ENOSYS) { answer(SECCOMP_RET_ERRNO | error); }
  // Does what `then` adds if the loaded word is `value`, and skips it otherwise.
  template <class Then>
  void if_equal(std::uint32_t value, Then then) {
    if_holds(BPF_JEQ, value, then);
  }
  template <class Then>
  void if_set(std::uint32_t bit, Then then) {
    if_holds(BPF_JSET, bit, then);
  }
  template <class Then>
  void unless_equal(std::uint32_t value, Then then) {
    const std::size_t jump = size_;
    add(BPF_JMP | BPF_JEQ | BPF_K, value);
    then();
    code_[jump].jt = static_cast<std::uint8_t>(size_ - jump - 1);
  }
  void allow_if_equal(std::uint32_t value) {
    if_equal(value, [&] { answer(SECCOMP_RET_ALLOW); });
  }
  // The call with this number is allowed if one of `conditions` allows it, and refused otherwise. The number
  // is loaded.
  template <class Conditions>
  void of(long call, Conditions conditions) {
    if_equal(static_cast<std::uint32_t>(call), [&] {
      conditions();
      refuse();
    });
  }
  static std::size_t low(int argument) {
    return offsetof(seccomp_data, args) + sizeof(std::uint64_t) * static_cast<std::size_t>(argument);
  }
  static std::size_t high(int argument) { return low(argument) + sizeof(std::uint32_t); }
  sock_fprog finished() { return {static_cast<unsigned short>(size_), code_.data()}; }

 private:
  void add(int code, std::uint32_t value) {
    code_[size_++] = {static_cast<std::uint16_t>(code), 0, 0, value};
  }
  template <class Then>
  void if_holds(int test, std::uint32_t value, Then then) {
    const std::size_t jump = size_;
    add(BPF_JMP | test | BPF_K, value);
    then();
    code_[jump].jf = static_cast<std::uint8_t>(size_ - jump - 1);
  }
  std::array<sock_filter, 320> code_{};
  std::size_t size_ = 0;
};

// The calls that are allowed with some arguments only.
void add_calls_with_conditions(Program& program, const void* command) {
  // Threads, and nothing else that is new; not clone3, whose arguments no filter sees. All have the same
  // table of descriptors: a limit holds for each table.
  program.of(SYS_clone, [&] {
    program.load_argument(0);
    constexpr std::uint32_t shared = CLONE_THREAD | CLONE_FS | CLONE_FILES;
    program.mask(shared | CLONE_VFORK | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET);
    program.allow_if_equal(shared);
  });
  program.of(SYS_close_range, [&] {
    program.load_argument(2);
    program.mask(~std::uint32_t{CLOSE_RANGE_CLOEXEC});
    program.allow_if_equal(0);
  });
  // To wait for its own threads, and to wake them. Others than private ones are the same to all processes
  // that have a file mapped, and all ranks have the program's. pthread_join waits by such a one for a thread
  // to end: it looks again at once.
  program.of(SYS_futex, [&] {
    program.load_argument(1);
    program.if_set(FUTEX_PRIVATE_FLAG, [&] { program.answer(SECCOMP_RET_ALLOW); });
    program.mask(static_cast<std::uint32_t>(FUTEX_CMD_MASK));
    for (const int verb : {FUTEX_WAIT, FUTEX_WAIT_BITSET})
      program.if_equal(static_cast<std::uint32_t>(verb), [&] { program.refuse(EAGAIN); });
  });
  // No locks and no leases, which other ranks would see: they have the same program.
  program.of(SYS_fcntl, [&] {
    program.load_argument(1);
    for (const int verb : {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC})
      program.allow_if_equal(static_cast<std::uint32_t>(verb));
  });
  // Pairs of local sockets: each task of a virtual rank talks with the grader on one of its own.
  program.of(SYS_socketpair, [&] {
    program.load_argument(0);
    program.allow_if_equal(AF_UNIX);
  });
  // How long it waits for them; not how much they hold, which would be memory beyond its limit.
  program.of(SYS_setsockopt, [&] {
    program.load_argument(1);
    program.if_equal(SOL_SOCKET, [&] {
      program.load_argument(2);
      for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO, SO_LINGER})
        program.allow_if_equal(static_cast<std::uint32_t>(option));
    });
  });
  // A limit may be asked for, not set.
  program.of(SYS_prlimit64, [&] {
    program.load_argument(2);
    program.if_equal(0, [&] {
      program.load(Program::high(2));
      program.allow_if_equal(0);
    });
  });
  // The name of a thread.
  program.of(SYS_prctl, [&] {
    program.load_argument(0);
    program.allow_if_equal(PR_SET_NAME);
    program.allow_if_equal(PR_GET_NAME);
  });
  // Becoming the command.
  const auto address = reinterpret_cast<std::uintptr_t>(command);
  program.of(SYS_execve, [&] {
    program.load_argument(1);
    program.if_equal(static_cast<std::uint32_t>(address), [&] {
      program.load(Program::high(1));
      program.allow_if_equal(static_cast<std::uint32_t>(address >> 32));
    });
  });
}

}  // namespace

bool filter_system_calls(const void* command) {
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.unless_equal(architecture, [&] { program.answer(SECCOMP_RET_KILL_PROCESS); });
  program.load(offsetof(seccomp_data, nr));
  for (const int call : harmless) program.allow_if_equal(static_cast<std::uint32_t>(call));
  add_calls_with_conditions(program, command);
  program.refuse();
  const sock_fprog code = program.finished();
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &code, 0, 0) == 0;
}

}  // namespace judge
