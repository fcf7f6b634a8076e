#include "dist/core/memory_file.h"

#include <cerrno>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"

namespace dist {

UniqueFd make_memory_file(const char* name, std::size_t bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
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
