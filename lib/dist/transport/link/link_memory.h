// LinkMemory: how two linked ranks find each other's memory. Threads of one process share all of it;
// processes map each other's arenas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dist/core/handles.h"
#include "dist/core/memory/prefaulted_pages.h"

namespace dist::net {

class LinkMemory {
 public:
  // How the peer finds [data, data + bytes) of this rank, if it can.
  virtual std::optional<std::uint64_t> address_of(const std::byte* data, std::size_t bytes) const = 0;
  // Where this rank maps those bytes at the peer's address, with their pages mapped; nullptr: it does not map
  // them.
  virtual std::byte* resolve(std::uint64_t address, std::size_t bytes) = 0;
  // What to add to the peer's addresses of arena memory to find them here; nullopt: it is not mapped.
  virtual std::optional<std::ptrdiff_t> shift() const = 0;
  virtual PrefaultedPages* pages() = 0;  // the peer's arena here; nullptr: nothing to map

 protected:
  ~LinkMemory() = default;
};

// Shared with a thread of this process: pointers mean the same on both sides.
class SameMemory final : public LinkMemory {
 public:
  std::optional<std::uint64_t> address_of(const std::byte* data, std::size_t) const override {
    return reinterpret_cast<std::uint64_t>(data);
  }
  std::byte* resolve(std::uint64_t address, std::size_t) override {
    return reinterpret_cast<std::byte*>(address);
  }
  std::optional<std::ptrdiff_t> shift() const override { return 0; }
  PrefaultedPages* pages() override { return nullptr; }
};

// The arena of another process, mapped here. Empty where the address space has no room for it: then the
// peer's messages come in pieces, and groups with that peer send messages.
class PeerArena final : public LinkMemory {
 public:
  PeerArena(Mapping mapping, std::uint64_t base)  // `base`: its address in the peer
      : mapping_(std::move(mapping)), base_(base), pages_(mapping_.data(), mapping_.size()) {}
  std::optional<std::uint64_t> address_of(const std::byte* data, std::size_t bytes) const override;
  std::byte* resolve(std::uint64_t address, std::size_t bytes) override;
  std::optional<std::ptrdiff_t> shift() const override;
  PrefaultedPages* pages() override { return mapping_.data() ? &pages_ : nullptr; }

 private:
  Mapping mapping_;
  std::uint64_t base_;
  PrefaultedPages pages_;
};

}  // namespace dist::net
