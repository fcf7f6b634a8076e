#include "dist/core/prefaulted_pages.h"

#include <cstring>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dist/core/handles.h"

namespace dist {
namespace {

constexpr std::size_t granule = PrefaultedPages::granule, file_bytes = 64 * granule, page = 4096;

// What the kernel has mapped one by one for this thread so far.
long faults() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

long faults_of_writing(std::byte* begin, std::size_t bytes) {
  const long before = faults();
  for (std::size_t at = 0; at < bytes; at += page) begin[at] = std::byte{1};
  return faults() - before;
}

class Prefaulted : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file);
    ASSERT_EQ(::ftruncate(file.get(), file_bytes), 0);
    mapping = Mapping(file.get(), file_bytes);
    // Linux before 5.14 cannot map pages together.
    std::byte* const last = mapping.data() + file_bytes - granule;
    if (::madvise(last, granule, 23) != 0) GTEST_SKIP() << "this kernel has no MADV_POPULATE_WRITE";
  }
  UniqueFd file{::memfd_create("prefaulted", MFD_CLOEXEC)};
  Mapping mapping;
};

TEST_F(Prefaulted, PagesAskedForAreThereWhenTheyAreTouched) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  EXPECT_GE(faults_of_writing(mapping.data(), 4 * granule), 4) << "nobody asked for these";
  pages.prefault(mapping.data() + 8 * granule, 4 * granule);
  EXPECT_LE(faults_of_writing(mapping.data() + 8 * granule, 4 * granule), 1);
}

TEST_F(Prefaulted, WholeGranulesAreAskedForAndNoMore) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  pages.prefault(mapping.data() + 2 * granule - 1, 2);
  EXPECT_LE(faults_of_writing(mapping.data() + granule, 2 * granule), 1);
  EXPECT_GE(faults_of_writing(mapping.data() + 3 * granule, granule), 1);
}

TEST_F(Prefaulted, NothingIsAskedForTwiceUntilItIsForgotten) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  std::byte* const begin = mapping.data() + 16 * granule;
  const auto give_back = [&] { ASSERT_EQ(::madvise(begin, 4 * granule, MADV_REMOVE), 0); };
  pages.prefault(begin, 4 * granule);
  give_back();
  pages.prefault(begin, 4 * granule);
  EXPECT_GE(faults_of_writing(begin, 4 * granule), 4) << "taken for mapped";
  give_back();
  pages.forget(begin + 1, 4 * granule - 2);  // the two granules in between
  pages.prefault(begin, 4 * granule);
  EXPECT_LE(faults_of_writing(begin + granule, 2 * granule), 1);
  EXPECT_GE(faults_of_writing(begin, granule), 1);
}

TEST_F(Prefaulted, NoBytesAskForNothing) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  pages.prefault(mapping.data() + file_bytes, 0);
  pages.prefault(nullptr, 0);
  EXPECT_GE(faults_of_writing(mapping.data() + 20 * granule, granule), 1);
}

TEST_F(Prefaulted, WhatIsInTheMemoryStays) {
  PrefaultedPages pages(mapping.data(), file_bytes);
  std::memset(mapping.data() + granule, 7, page);
  pages.prefault(mapping.data(), 4 * granule);
  EXPECT_EQ(mapping.data()[granule], std::byte{7});
  EXPECT_EQ(mapping.data()[2 * granule], std::byte{0});
}

}  // namespace
}  // namespace dist
