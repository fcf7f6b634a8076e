#include "dist/core/memory/prefaulted_pages.h"

#include <cstring>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dist/core/handles.h"

namespace dist {
namespace {

constexpr std::size_t granule = PrefaultedPages::granule, file_bytes = 64 * granule;

class Prefaulted : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file);
    ASSERT_EQ(::ftruncate(file.get(), file_bytes), 0);
    mapping = Mapping(file.get(), file_bytes);
    constexpr int populate_write = 23;
    if (::madvise(mapping.data() + file_bytes - granule, granule, populate_write) != 0)
      GTEST_SKIP() << "this kernel maps pages one by one only: Linux before 5.14";
  }

  std::byte* at(std::size_t index) const { return mapping.data() + index * granule; }

  // The number of pages that this process has mapped in `granules` granules from `begin`, by its page map.
  static std::size_t mapped_pages(const std::byte* begin, std::size_t granules) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const UniqueFd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    std::vector<std::uint64_t> entries(granules * granule / page);
    const std::size_t bytes = entries.size() * sizeof(std::uint64_t);
    const auto first = reinterpret_cast<std::uintptr_t>(begin) / page * sizeof(std::uint64_t);
    EXPECT_EQ(::pread(pagemap.get(), entries.data(), bytes, static_cast<off_t>(first)),
              static_cast<ssize_t>(bytes));
    std::size_t mapped = 0;
    for (const std::uint64_t entry : entries) mapped += entry >> 63;
    return mapped;
  }
  const std::size_t pages_a_granule = granule / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

  UniqueFd file{::memfd_create("prefaulted", MFD_CLOEXEC)};
  Mapping mapping;
};

TEST_F(Prefaulted, PagesAreMappedBeforeTheyAreTouched) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  EXPECT_EQ(mapped_pages(at(0), 60), 0U);
  pages.prefault(at(8), 4 * granule);
  EXPECT_EQ(mapped_pages(at(8), 4), 4 * pages_a_granule);
  EXPECT_EQ(mapped_pages(at(0), 60), 4 * pages_a_granule);
}

TEST_F(Prefaulted, WholeGranulesAreMappedWhereverTheMemoryBegins) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  pages.prefault(at(2) - 1, 2);
  EXPECT_EQ(mapped_pages(at(1), 2), 2 * pages_a_granule);
  EXPECT_EQ(mapped_pages(at(0), 60), 2 * pages_a_granule);
}

TEST_F(Prefaulted, NothingIsAskedForTwiceUntilItIsForgotten) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  const auto give_back = [&] { ASSERT_EQ(::madvise(at(16), 4 * granule, MADV_REMOVE), 0); };
  pages.prefault(at(16), 4 * granule);
  give_back();
  pages.prefault(at(16), 4 * granule);
  EXPECT_EQ(mapped_pages(at(16), 4), 0U) << "taken for mapped";
  pages.forget(at(16) + 1, 4 * granule - 2);  // the two granules in between
  pages.prefault(at(16), 4 * granule);
  EXPECT_EQ(mapped_pages(at(17), 2), 2 * pages_a_granule);
  EXPECT_EQ(mapped_pages(at(16), 4), 2 * pages_a_granule);
}

TEST_F(Prefaulted, WhatIsLeftOfARangeIsMapped) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  pages.prefault(at(33), granule);
  pages.prefault(at(30), 6 * granule);
  EXPECT_EQ(mapped_pages(at(30), 6), 6 * pages_a_granule);
}

TEST_F(Prefaulted, NoBytesAskForNothing) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  pages.prefault(mapping.data() + file_bytes, 0);
  pages.prefault(nullptr, 0);
  EXPECT_EQ(mapped_pages(at(0), 60), 0U);
}

TEST_F(Prefaulted, WhatIsInTheMemoryStays) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  std::memset(at(1), 7, 100);
  pages.prefault(at(0), 4 * granule);
  EXPECT_EQ(*at(1), std::byte{7});
  EXPECT_EQ(*at(2), std::byte{0});
}

}  // namespace
}  // namespace dist
