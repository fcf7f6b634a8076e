#include "dist/data/idx.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "idx_files.h"
#include "support/expect_error.h"

namespace dist::data {
namespace {

using test::idx;
using test::TemporaryFolder;

Tensor parse(const std::string& bytes, int axes) {
  return parse_idx(std::as_bytes(std::span(bytes)), axes, "the file");
}

TEST(Idx, ReadsBytesOfAnyShape) {
  const auto t = parse(idx({2, 1, 3}, std::string("\x00\x01\xff\x07\x08\x09", 6)), 3);
  EXPECT_EQ(t.shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(t.dtype(), DType::u8);
  EXPECT_EQ(t.to_vector<int>(), (std::vector{0, 1, 255, 7, 8, 9}));
  EXPECT_EQ(parse(idx({0}, ""), 1).shape(), Shape{0});
}

TEST(Idx, RefusesOtherFormatsTypesAndNumbersOfAxes) {
  EXPECT_DIST_ERROR(
      parse("<html>not found</html>", 3), Errc::invalid_argument,
      "the file begins with 0x3c68746d, an IDX file of bytes with 3 axes begins with 0x00000803");
  EXPECT_DIST_ERROR(parse(idx({2}, "ab"), 3), Errc::invalid_argument, "begins with 0x00000801");
  EXPECT_DIST_ERROR(parse(idx({1}, "abcd", 0x0d), 1), Errc::invalid_argument,
                    "begins with 0x00000d01");  // f32
  EXPECT_DIST_ERROR(parse("", 1), Errc::invalid_argument, "has 0 bytes only");
}

TEST(Idx, RefusesEveryTruncation) {
  const std::string whole = idx({2, 2, 2}, "abcdefgh");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_DIST_ERROR(parse(whole.substr(0, size), 3), Errc::invalid_argument, "the file");
  EXPECT_DIST_ERROR(parse(whole.substr(0, 10), 3), Errc::invalid_argument,
                    "ends within its header, after 10 of 16 bytes");
  EXPECT_DIST_ERROR(parse(whole.substr(0, 20), 3), Errc::invalid_argument,
                    "has 4 bytes after its header, but its shape [2, 2, 2] needs 8");
}

TEST(Idx, RefusesTooManyBytesAndSizesBeyondReason) {
  EXPECT_DIST_ERROR(parse(idx({2}, "abc"), 1), Errc::invalid_argument, "has 3 bytes after its header");
  EXPECT_DIST_ERROR(parse(idx({0xffffffff, 0xffffffff, 0xffffffff}, "abc"), 3), Errc::invalid_argument,
                    "promises a tensor of shape [4294967295, 4294967295, 4294967295]");
}

TEST(Idx, ReadsFilesAndSaysWhichIsNotThere) {
  const TemporaryFolder folder;
  folder.write("a", "hello");
  EXPECT_EQ(read_maybe_gzip(folder / "a").size(), 5U);
  EXPECT_DIST_ERROR(read_maybe_gzip(folder / "b"), Errc::resource,
                    "/b cannot be read: does it exist, and is it a file?");
  EXPECT_DIST_ERROR(read_maybe_gzip(folder / "."), Errc::resource, "cannot be read");
}

#if DIST_HAVE_ZLIB

TEST(Gzip, IsUncompressedWhateverTheNameOfTheFile) {
  const TemporaryFolder folder;
  folder.write("a", test::hello_gz());
  const auto bytes = read_maybe_gzip(folder / "a");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
            "hello hello hello hello\n");
}

TEST(Gzip, RefusesEveryTruncationAndEveryDamage) {
  const TemporaryFolder folder;
  const std::string whole = test::hello_gz();
  for (std::size_t size = 2; size < whole.size(); ++size) {
    folder.write("cut", whole.substr(0, size));
    EXPECT_DIST_ERROR(read_maybe_gzip(folder / "cut"), Errc::invalid_argument, "ends in the middle");
  }
  std::string damaged = whole;
  damaged[whole.size() - 8] ^= 1;  // the checksum
  folder.write("damaged", damaged);
  EXPECT_DIST_ERROR(read_maybe_gzip(folder / "damaged"), Errc::invalid_argument,
                    "is damaged (incorrect data check)");
}

#else

TEST(Gzip, SaysHowToGetZlib) {
  const TemporaryFolder folder;
  folder.write("a.gz", test::hello_gz());
  EXPECT_DIST_ERROR(read_maybe_gzip(folder / "a.gz"), Errc::unsupported, "this build has no zlib");
}

#endif

}  // namespace
}  // namespace dist::data
