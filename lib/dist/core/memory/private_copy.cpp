#include "dist/core/memory/private_copy.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

#include "dist/core/log.h"
#include "dist/core/sanitizer.h"

namespace dist {

namespace {

// Reads bytes [next, end) of the memory file to where they are mapped now.
bool read_back(const Segment& segment, off_t next, off_t end) {
  while (next < end) {
    std::byte* to = segment.at(static_cast<std::size_t>(next));
    const ssize_t got = ::pread(segment.fd.get(), to, static_cast<std::size_t>(end - next), next);
    if (got <= 0 && errno != EINTR) return false;
    next += std::max<ssize_t>(got, 0);
  }
  return true;
}

// The same for one block, except for its holes: pages that were never touched and are zeros in both mappings.
bool copy_block(const Segment& segment, const BlockMap::Block& block) {
  const int fd = segment.fd.get();
  const auto end = static_cast<off_t>(block.offset + block.size);
  auto next = static_cast<off_t>(block.offset);
  while (next < end) {
    const off_t data = ::lseek(fd, next, SEEK_DATA);
    if (data < 0) return errno == ENXIO;  // only a hole remains up to the end of the file
    if (data >= end) return true;
    next = std::min(end, ::lseek(fd, data, SEEK_HOLE));
    if (!read_back(segment, data, next)) return false;
  }
  return true;
}

}  // namespace

void make_private(Segment& segment) {
  const int protection = PROT_READ | PROT_WRITE;
  const int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = ::mmap(segment.at(0), segment.mapping.size(), protection, flags, -1, 0);
  bool copied = at != MAP_FAILED;
  for (const auto& [offset, size] : segment.blocks.used()) {
    unpoison(segment.at(offset), size);  // a block's padding is copied too
    copied = copied && copy_block(segment, {offset, size});
  }
  if (!copied) {
    log(LogLevel::error, "a forked process could not copy its tensors: {}",
        std::generic_category().message(errno));
    ::_exit(EXIT_FAILURE);
  }
  segment.fd.reset();
}

}  // namespace dist
