#include "support/fake_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace dist::test {

namespace {

constexpr int garbage = 0xdb;

UniqueFd make_file(std::size_t bytes) {
  UniqueFd fd(::memfd_create("fake-device", MFD_CLOEXEC));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    fail_errno(Errc::resource, errno, "making the fake device's memory");
  return fd;
}

}  // namespace

ForbiddenRange::ForbiddenRange(std::size_t bytes) : bytes_(bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) fail_errno(Errc::resource, errno, "reserving the fake device's addresses");
  start_ = static_cast<std::byte*>(at);
}

ForbiddenRange::ForbiddenRange(ForbiddenRange&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ForbiddenRange::~ForbiddenRange() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

std::optional<std::size_t> ForbiddenRange::offset_of(const void* pointer) const {
  const auto* byte = static_cast<const std::byte*>(pointer);
  if (byte < start_ || byte >= start_ + bytes_) return std::nullopt;
  return static_cast<std::size_t>(byte - start_);
}

FakeMemory::FakeMemory(std::size_t bytes)
    : fd_(make_file(bytes)), segment_{Mapping(fd_.get(), bytes), ForbiddenRange(bytes)}, blocks_(bytes) {}

void* FakeMemory::allocate(std::size_t bytes) {
  const auto block = blocks_.allocate(bytes);
  if (!block)
    fail(Errc::resource, "the fake device has no room for {} bytes; {} are in use", bytes, blocks_.in_use());
  allocated_[block->offset] = {bytes, next_allocation_id()};
  std::memset(segment_.bytes.data() + block->offset, garbage, block->size);
  return segment_.addresses.at(block->offset);
}

void FakeMemory::deallocate(void* pointer) {
  const auto offset = segment_.addresses.offset_of(pointer);
  const auto block = offset ? blocks_.deallocate(*offset) : std::nullopt;
  if (!block) fail(Errc::internal, "{} was not allocated on the fake device, or was freed twice", pointer);
  allocated_.erase(block->offset);
  std::memset(segment_.bytes.data() + block->offset, garbage, block->size);
}

FakeMemory::Blocks::const_iterator FakeMemory::block_around(const void* pointer) const {
  const auto at = segment_.addresses.offset_of(pointer);
  const auto after = at ? allocated_.upper_bound(*at) : allocated_.begin();
  if (after == allocated_.begin()) return allocated_.end();
  const auto block = std::prev(after);
  return *at <= block->first + block->second.bytes ? block : allocated_.end();
}

Allocation FakeMemory::block_of(const void* pointer) const {
  const auto block = block_around(pointer);
  if (block == allocated_.end())
    fail(Errc::invalid_argument, "{} does not lie in any block of the fake device", pointer);
  return {segment_.addresses.at(block->first), block->second.bytes, block->second.id};
}

FakeHandle FakeMemory::export_block(const void* pointer) const {
  const auto offset = segment_.addresses.offset_of(pointer);
  const auto block = offset ? allocated_.find(*offset) : allocated_.end();
  if (block == allocated_.end())
    fail(Errc::invalid_argument, "{} is not the start of a block of the fake device", pointer);
  return {::getpid(), fd_.get(), segment_.bytes.size(), block->first, block->second.bytes, {}};
}

void* FakeMemory::import_block(const FakeHandle& handle) {
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.pid, handle.fd);
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) fail_errno(Errc::connection, errno, "opening a peer's fake device memory");
  imports_.push_back({{Mapping(fd.get(), handle.segment_bytes), ForbiddenRange(handle.segment_bytes)},
                      handle.offset,
                      handle.size});
  return imports_.back().segment.addresses.at(handle.offset);
}

void FakeMemory::release_import(void* pointer) {
  std::erase_if(imports_,
                [&](const Import& i) { return i.segment.addresses.offset_of(pointer).has_value(); });
}

std::byte* FakeMemory::locate(const void* pointer, std::size_t bytes) const {
  const auto inside = [&](std::size_t at, std::size_t start, std::size_t size) {
    return at >= start && at - start <= size && bytes <= size - (at - start);
  };
  if (const auto at = segment_.addresses.offset_of(pointer)) {
    const auto block = block_around(pointer);
    if (block == allocated_.end()) return nullptr;
    return inside(*at, block->first, block->second.bytes) ? segment_.bytes.data() + *at : nullptr;
  }
  for (const Import& import : imports_)
    if (const auto at = import.segment.addresses.offset_of(pointer))
      return inside(*at, import.offset, import.size) ? import.segment.bytes.data() + *at : nullptr;
  return nullptr;
}

}  // namespace dist::test
