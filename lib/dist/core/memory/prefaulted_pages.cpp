#include "dist/core/memory/prefaulted_pages.h"

#include <new>

#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace dist {

void PrefaultedPages::Free::operator()(Word* words) const { ::munmap(words, bytes); }

PrefaultedPages::PrefaultedPages(std::byte* base, std::size_t bytes) : base_(base) {
  const std::size_t mapped = (bytes / granule / granules_a_word + 1) * sizeof(Word);
  void* const begin = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  asked_for_ = std::unique_ptr<Word, Free>(static_cast<Word*>(begin), Free{mapped});
}

// If the system refuses, pages are mapped when they are touched, as if this had not been called.
void PrefaultedPages::ask_for(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) {
    const std::size_t begin = i;
    while (i <= last && !is_asked_for(i)) {
      word(i).fetch_or(bit(i), std::memory_order_relaxed);
      ++i;
    }
    if (i > begin) ::madvise(base_ + begin * granule, (i - begin) * granule, MADV_POPULATE_WRITE);
  }
}

void PrefaultedPages::forget(const std::byte* begin, std::size_t bytes) {
  const auto offset = static_cast<std::size_t>(begin - base_);
  const std::size_t end = (offset + bytes) / granule;
  for (std::size_t i = (offset + granule - 1) / granule; i < end; ++i)
    word(i).fetch_and(~bit(i), std::memory_order_relaxed);
}

}  // namespace dist
