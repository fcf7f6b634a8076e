#include "dist/core/handles.h"

#include <cerrno>

#include <sys/mman.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace dist {

void UniqueFd::reset() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Mapping::Mapping(int fd, std::size_t bytes) : bytes_(bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED)
    fail_errno(Errc::resource, errno, fmt::format("mapping {} bytes of shared memory", bytes));
  data_ = static_cast<std::byte*>(at);
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace dist
