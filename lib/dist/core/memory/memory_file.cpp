#include "dist/core/memory/memory_file.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"

namespace dist {
namespace {

// Where a filter of system calls forbids memfd_create, whoever has started this process may have made a file
// for it, which serves once.
UniqueFd made_before() {
  static std::atomic<bool> taken{false};
  const char* const number = std::getenv("DIST_MEMORY_FD");
  if (number == nullptr || taken.exchange(true)) return {};
  const int fd = std::atoi(number);
  return ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? UniqueFd(fd) : UniqueFd();
}

}  // namespace

UniqueFd make_memory_file(const char* name, std::size_t bytes) {
  UniqueFd fd(made_before());
  if (!fd) fd = UniqueFd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd && (errno == EPERM || errno == EACCES || errno == ENOSYS))
    fail(Errc::resource,
         "shared memory cannot be made: memfd_create is not permitted here, perhaps by a filter of system "
         "calls "
         "(seccomp); allow it in the container's or the service's profile");
  if (!fd) fail_errno(Errc::resource, errno, "making shared memory (memfd_create)");
  raise_soft_limit(RLIMIT_FSIZE, bytes);
  if (bytes > soft_limit(RLIMIT_FSIZE))
    fail_errno(Errc::resource, EFBIG, fmt::format("making {} MiB of shared memory", bytes >> 20));
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    fail_errno(Errc::resource, errno, fmt::format("making {} MiB of shared memory", bytes >> 20));
  return fd;
}

}  // namespace dist
