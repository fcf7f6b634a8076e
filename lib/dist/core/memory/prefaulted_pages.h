// PrefaultedPages: makes the system map the pages of a large shared mapping before they are used. Mapping a
// page when it is first touched costs 0.5 to 1 us, and ten or more in a virtual machine; pages that are
// mapped together cost 0.2 us each (madvise(2), MADV_POPULATE_WRITE, Linux 5.14; older systems map pages when
// they are touched).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace dist {

// Thread-safe, except for moves.
class PrefaultedPages {
 public:
  static constexpr std::size_t granule = std::size_t{64} << 10;  // bytes that are mapped together

  // Covers `bytes` bytes at `base`, whole granules of a mapping that outlives this.
  PrefaultedPages(std::byte* base, std::size_t bytes);

  // To be called before [begin, begin + bytes) is used, for the first time or again: maps the granules there
  // that are not yet mapped. Their pages take memory from then on.
  void prefault(const std::byte* begin, std::size_t bytes) {
    if (bytes == 0) return;
    const auto offset = static_cast<std::size_t>(begin - base_);
    for (std::size_t i = offset / granule, last = (offset + bytes - 1) / granule; i <= last; ++i)
      if (!is_asked_for(i)) return ask_for(i, last);
  }
  // Records that the system has the pages of whole granules in [begin, begin + bytes) back.
  void forget(const std::byte* begin, std::size_t bytes);

 private:
  using Word = std::atomic<std::uint64_t>;
  static constexpr std::size_t granules_a_word = 64;

  Word& word(std::size_t granule_index) const { return asked_for_.get()[granule_index / granules_a_word]; }
  static std::uint64_t bit(std::size_t granule_index) {
    return std::uint64_t{1} << (granule_index % granules_a_word);
  }
  bool is_asked_for(std::size_t index) const {
    return (word(index).load(std::memory_order_relaxed) & bit(index)) != 0;
  }
  void ask_for(std::size_t first, std::size_t last);

  struct Free {
    std::size_t bytes;
    void operator()(Word* words) const;
  };
  std::byte* base_;
  // A bit per granule. Mapped, because a rank has one for each peer: calloc() would clear all of it, and a
  // page of it takes memory only once a bit there is set.
  std::unique_ptr<Word, Free> asked_for_{nullptr, Free{0}};
};

}  // namespace dist
