// Four ranks, or as many as are asked for, that all-reduce a megabyte: "ok", or one line that says what the
// system refused.
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dist/dist.h"

namespace {

// Makes memfd_create() fail, as a container's profile may do.
void forbid_memfd() {
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::puts("no filter");
}

}  // namespace

int main(int argc, char** argv) {
  const bool closes = argc > 1 && std::strcmp(argv[1], "closes") == 0;
  const bool threads = argc > 1 && std::strcmp(argv[1], "threads") == 0;
  if (argc > 1 && std::strcmp(argv[1], "without_memfd") == 0) forbid_memfd();
  const int ranks = argc > 1 && std::atoi(argv[1]) > 0 ? std::atoi(argv[1]) : 4;
  try {
    dist::spawn(
        ranks,
        [closes](int rank) {
          dist::init_process_group({.timeout = std::chrono::seconds(10)});
          auto t = dist::full({262'144}, rank);
          if (closes && rank == 2) closefrom(3);  // as programs that become daemons do
          dist::all_reduce(t, dist::ReduceOp::sum, {.async_op = true}).wait();
          if (dist::max(t) != 6) throw dist::Error(dist::Errc::internal, "wrong sum");
          dist::destroy_process_group();
        },
        threads ? dist::Ranks::threads : dist::Ranks::processes);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  std::puts("ok");
}
