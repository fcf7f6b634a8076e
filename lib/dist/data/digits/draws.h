// Random numbers that are the same everywhere: the standard fixes its generators but not its distributions.
#pragma once

#include <cstdint>

namespace dist::data {

// SplitMix64 (Steele, Lea and Flood 2014): a counter, and a function that scrambles it.
class Draws {
 public:
  // Different streams of one seed are independent of each other.
  Draws(std::uint64_t seed, std::uint64_t stream) : state_(scrambled(seed) ^ scrambled(~stream)) {}

  std::uint64_t bits() { return scrambled(state_ += 0x9e3779b97f4a7c15); }
  // One of 0 ... n - 1.
  int below(int n) { return static_cast<int>((bits() >> 32) * static_cast<std::uint64_t>(n) >> 32); }
  // Uniform in [low, high).
  double between(double low, double high) {
    return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
  }
  // Bell-shaped around 0 with that standard deviation, never beyond 3.5 of them: the sum of four uniform
  // draws.
  double bell(double deviation) {
    constexpr double unit = 1.7320508075688772;  // deviation 1/sqrt(12) each, so sqrt(4/12) of the sum
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += between(-0.5, 0.5);
    return sum * unit * deviation;
  }

 private:
  static std::uint64_t scrambled(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

}  // namespace dist::data
