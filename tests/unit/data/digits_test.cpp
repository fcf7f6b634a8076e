#include "dist/data/digits.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "dist/data/data_loader.h"

#include "support/expect_error.h"

namespace dist::data {
namespace {

// FNV-1a.
std::uint64_t digest(std::span<const std::uint8_t> bytes, std::uint64_t so_far = 0xcbf29ce484222325) {
  for (const auto byte : bytes) so_far = (so_far ^ byte) * 0x100000001b3;
  return so_far;
}

TEST(Digits, AreTheSameOnEveryMachine) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (int i = 0; i < 1000; ++i) {
    const auto digit = draw_digit(1, i);
    sum = digest(digit.pixels, sum);
    sum = digest(std::array{static_cast<std::uint8_t>(digit.label)}, sum);
  }
  EXPECT_EQ(sum, 9554739760472153217U)
      << "what is drawn has changed: figures that were published with the old digits are void";
}

TEST(Digits, DependOnSeedAndNumberAlone) {
  const auto digit = draw_digit(4, 17);
  draw_digit(9, 3);
  EXPECT_EQ(draw_digit(4, 17).pixels, digit.pixels);
  std::set<std::uint64_t> images;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (int i = 0; i < 20; ++i) images.insert(digest(draw_digit(seed, i).pixels));
  }
  EXPECT_EQ(images.size(), 400U) << "no image twice";
}

TEST(Digits, HaveAllLabelsEquallyOftenAndUseInkAndPaper) {
  constexpr int n = 20'000;
  std::array<int, 10> count{};
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const auto digit = draw_digit(1, i);
    ASSERT_GE(digit.label, 0);
    ASSERT_LE(digit.label, 9);
    ++count[static_cast<std::size_t>(digit.label)];
    EXPECT_GT(*std::ranges::max_element(digit.pixels), 120) << "image " << i << " is empty";
    for (const auto pixel : digit.pixels) {
      sum += pixel / 255.;
      squares += pixel / 255. * (pixel / 255.);
    }
  }
  for (const int each : count) EXPECT_NEAR(each, n / 10, 200);  // 4.7 standard deviations
  const double mean = sum / n / 784, deviation = std::sqrt(squares / n / 784 - mean * mean);
  EXPECT_NEAR(mean, digits_normalisation.mean, 0.002);
  EXPECT_NEAR(deviation, digits_normalisation.deviation, 0.002);
}

TEST(Digits, StayOnThePaper) {
  int outside = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto digit = draw_digit(2, i);
    bool touches = false;
    for (std::size_t k = 0; k < 28; ++k) {
      for (const std::size_t border : {k, 27 * 28 + k, k * 28, k * 28 + 27})
        touches |= digit.pixels[border] > 100;
    }
    outside += touches;
  }
  EXPECT_LT(outside, 40) << "of 2000 images with ink at the border";
}

TEST(Digits, AreADataset) {
  const Digits digits(5, 8);
  EXPECT_EQ(digits.size(), 5);
  const auto [input, target] = digits.get(4);
  EXPECT_EQ(input.shape(), (Shape{1, 28, 28}));
  EXPECT_EQ(target.dtype(), DType::i64);
  EXPECT_EQ(target.item<int>(), draw_digit(8, 4).label);
  EXPECT_NEAR(
      input.to_vector<float>()[400],
      (draw_digit(8, 4).pixels[400] / 255. - digits_normalisation.mean) / digits_normalisation.deviation,
      1e-5);
  EXPECT_DIST_ERROR(digits.get(5), Errc::invalid_argument, "there is no digit 5");
  EXPECT_DIST_ERROR(Digits(-1), Errc::invalid_argument, "-1 images");
}

// Sixty thousand digits within ten seconds on two cores, including all that a loader does; sanitizers are
// slower.
TEST(Digits, AreDrawnFastEnough) {
  const Digits digits(6'000);
  const auto start = std::chrono::steady_clock::now();
  std::int64_t seen = 0;
  for (const auto& batch : DataLoader(digits, {.batch_size = 64, .workers = 2})) seen += batch.size();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(seen, digits.size());
  RecordProperty("microseconds_a_digit", std::to_string(took.count() / 6'000 * 1e6));
  EXPECT_LT(took.count(), 10) << "a tenth of them";
}

// Softmax regression by stochastic gradient descent: how good a model is that cannot see shapes.
class Linear {
 public:
  void train(const Tensor& image, std::int64_t label, float rate) {
    auto share = scores(image);
    const float most = *std::ranges::max_element(share);
    float sum = 0;
    for (auto& s : share) sum += s = std::exp(s - most);
    const auto pixels = image.data<float>();
    for (std::size_t k = 0; k < 10; ++k) {
      const float error = share[k] / sum - (static_cast<std::int64_t>(k) == label ? 1.F : 0.F);
      for (std::size_t i = 0; i < 784; ++i) weights_[k][i] -= rate * error * pixels[i];
      weights_[k][784] -= rate * error;
    }
  }
  std::int64_t guess(const Tensor& image) const {
    const auto all = scores(image);
    return std::ranges::max_element(all) - all.begin();
  }

 private:
  std::array<float, 10> scores(const Tensor& image) const {
    std::array<float, 10> all{};
    const auto pixels = image.data<float>();
    for (std::size_t k = 0; k < 10; ++k) {
      all[k] = weights_[k][784];
      for (std::size_t i = 0; i < 784; ++i) all[k] += weights_[k][i] * pixels[i];
    }
    return all;
  }
  std::array<std::array<float, 785>, 10> weights_{};
};

TEST(Digits, ALinearModelLearnsSomeOfThemOnly) {
  const Digits train(8'000, 1), test(2'000, 2);
  Linear model;
  for (const float rate : {0.002F, 0.001F, 0.0005F, 0.0002F}) {
    for (std::int64_t i = 0; i < train.size(); ++i) {
      const auto [image, label] = train.get(i);
      model.train(image, label.item<std::int64_t>(), rate);
    }
  }
  int right = 0;
  for (std::int64_t i = 0; i < test.size(); ++i) {
    const auto [image, label] = test.get(i);
    right += model.guess(image) == label.item<std::int64_t>();
  }
  const double accuracy = right / static_cast<double>(test.size());
  RecordProperty("accuracy_percent", std::to_string(100 * accuracy));
  EXPECT_GT(accuracy, 0.6) << "they can be told apart";
  EXPECT_LT(accuracy, 0.95) << "but not by single pixels";
}

}  // namespace
}  // namespace dist::data
