#include "dist/data/dataset.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dist/data/images.h"

#include "numbers.h"
#include "support/expect_error.h"

namespace dist::data {
namespace {

using test::number;
using test::NumberStream;

TEST(Stack, PutsSamplesBehindEachOther) {
  const auto batch = stack(std::vector{number(3), number(1), number(4)});
  EXPECT_EQ(batch.size(), 3);
  EXPECT_EQ(batch.inputs.shape(), (Shape{3, 2}));
  EXPECT_EQ(batch.inputs.to_vector<float>(), (std::vector<float>{3, -3, 1, -1, 4, -4}));
  EXPECT_EQ(batch.targets.shape(), (Shape{3}));
  EXPECT_EQ(batch.targets.dtype(), DType::i64);
  EXPECT_EQ(batch.targets.to_vector<int>(), (std::vector{3, 1, 4}));
}

TEST(Stack, RefusesSamplesThatDiffer) {
  auto odd = number(1);
  odd.input = zeros({3});
  EXPECT_DIST_ERROR(
      stack(std::vector{number(0), odd}), Errc::invalid_argument,
      "the input of sample 1 of the batch is f32 of shape [3] and that of sample 0 is f32 of shape [2]");
  odd = number(1);
  odd.target = odd.target.to(DType::i32);
  EXPECT_DIST_ERROR(stack(std::vector{number(0), number(1), odd}), Errc::invalid_argument,
                    "the target of sample 2 of the batch is i32 of shape []");
  EXPECT_DIST_ERROR(stack({}), Errc::invalid_argument, "no samples");
}

std::vector<std::int64_t> read(const SampleStream& stream) {
  std::vector<std::int64_t> all;
  while (const auto sample = stream()) all.push_back(sample->target.item<std::int64_t>());
  return all;
}

TEST(Shard, EveryWorkerOfEveryRankGetsItsShareAndEverySampleHasOne) {
  for (const int ranks : {1, 2, 3, 4}) {
    for (const int workers : {1, 2, 3, 4, 6}) {  // with a factor in common, and without
      for (const std::int64_t n : {0, 1, 12, 37, 100}) {
        std::vector<int> readers(static_cast<std::size_t>(n));
        const NumberStream stream(n);
        const std::int64_t least = n / (ranks * workers);
        for (int rank = 0; rank < ranks; ++rank) {
          for (int worker = 0; worker < workers; ++worker) {
            const auto mine = read(stream.open(Shard{rank, ranks}.split(worker, workers)));
            EXPECT_GE(static_cast<std::int64_t>(mine.size()), least)
                << n << " samples, worker " << worker << " of " << workers << " of rank " << rank << " of "
                << ranks;
            EXPECT_LE(static_cast<std::int64_t>(mine.size()), least + 1);
            for (const auto sample : mine) {
              ++readers[static_cast<std::size_t>(sample)];
              EXPECT_EQ(sample % ranks, rank) << "whatever the workers";
            }
          }
        }
        EXPECT_EQ(readers, std::vector<int>(static_cast<std::size_t>(n), 1))
            << n << ", " << ranks << ", " << workers;
      }
    }
  }
}

// The formula of the course notes' example, to show what split() is for.
TEST(Shard, TwoModulosStarveWorkersUnlessTheyAreCoprime) {
  const auto share = [](int rank, int ranks, int worker, int workers) {
    int count = 0;
    for (int i = 0; i < 3600; ++i) count += i % ranks == rank && i % workers == worker;
    return count;
  };
  EXPECT_EQ(share(0, 4, 1, 3), 300);  // coprime: a twelfth each
  EXPECT_EQ(share(0, 4, 1, 2), 0);    // rank 0 sees even samples, its worker 1 wants odd ones
}

TEST(Images, AreNormalisedAndHaveTheirLabels) {
  Tensor pixels = zeros({2, 1, 3}, DType::u8), labels = zeros({2}, DType::u8);
  pixels.data<std::uint8_t>()[3] = 255;
  pixels.data<std::uint8_t>()[4] = 51;
  labels.data<std::uint8_t>()[1] = 7;
  const Images images(pixels, labels, {.mean = 0.5F, .deviation = 0.25F});
  EXPECT_EQ(images.size(), 2);
  const auto [input, target] = images.get(1);
  EXPECT_EQ(input.shape(), (Shape{1, 1, 3}));
  const auto values = input.to_vector<float>();
  EXPECT_FLOAT_EQ(values[0], 2);
  EXPECT_NEAR(values[1], -1.2F, 1e-6);
  EXPECT_FLOAT_EQ(values[2], -2);
  EXPECT_EQ(target.shape(), Shape{});
  EXPECT_EQ(target.item<std::int64_t>(), 7);
  EXPECT_DIST_ERROR(images.get(2), Errc::invalid_argument, "there is no image 2");
  EXPECT_DIST_ERROR(images.get(-1), Errc::invalid_argument, "there is no image -1");
}

TEST(Images, RefusePixelsAndLabelsThatDoNotFit) {
  const auto pixels = zeros({2, 3, 3}, DType::u8);
  EXPECT_DIST_ERROR(Images(pixels, zeros({3}, DType::u8), {}), Errc::invalid_argument, "u8 [3]");
  EXPECT_DIST_ERROR(Images(pixels, zeros({2}), {}), Errc::invalid_argument, "f32 [2]");
  EXPECT_DIST_ERROR(Images(zeros({2, 9}, DType::u8), zeros({2}, DType::u8), {}), Errc::invalid_argument,
                    "u8 [2, 9]");
}

}  // namespace
}  // namespace dist::data
