// The numbers of lab 20's model, which the grader and the ranks know: no rank needs to be told them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab20 {

using Numbers = std::vector<double>;

// A number between -1 and 1, in steps of 1/8.
inline double element(std::uint64_t seed, std::uint64_t what, std::uint64_t where) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15U + what * 0xbf58476d1ce4e5b9U + where * 0x94d049bb133111ebU + 1;
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebU;
  return static_cast<double>((x >> 40U) % 17) / 8 - 1;
}

inline Numbers elements(std::uint64_t seed, std::uint64_t what, std::size_t count) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = element(seed, what, i);
  return numbers;
}

// A matrix, row by row.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  Numbers at;

  double operator()(std::size_t row, std::size_t column) const { return at[row * columns + column]; }
  Matrix transposed() const {
    Matrix t{columns, rows, Numbers(at.size())};
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < columns; ++k) t.at[k * rows + i] = (*this)(i, k);
    return t;
  }
};

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product{a.rows, b.columns, Numbers(a.rows * b.columns)};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.columns; ++k)
      for (std::size_t j = 0; j < b.columns; ++j) product.at[i * b.columns + j] += a(i, k) * b(k, j);
  return product;
}

// Stage i multiplies by a matrix of widths[i] x widths[i + 1].
inline Matrix weight(std::uint64_t seed, std::size_t stage, const std::vector<std::size_t>& widths) {
  const std::size_t rows = widths[stage], columns = widths[stage + 1];
  return {rows, columns, elements(seed, 100 + stage, rows * columns)};
}
inline Matrix input(std::uint64_t seed, std::size_t micro_batch, std::size_t samples, std::size_t width) {
  return {samples, width, elements(seed, 10'000 + micro_batch, samples * width)};
}
inline Matrix target(std::uint64_t seed, std::size_t micro_batch, std::size_t samples, std::size_t width) {
  return {samples, width, elements(seed, 20'000 + micro_batch, samples * width)};
}

// Half the squared distance, summed over samples and elements; `gradient` becomes output - target.
inline double squared_loss(const Matrix& output, const Matrix& target, Matrix& gradient) {
  gradient = output;
  double sum = 0;
  for (std::size_t i = 0; i < gradient.at.size(); ++i) {
    gradient.at[i] -= target.at[i];
    sum += gradient.at[i] * gradient.at[i] / 2;
  }
  return sum;
}

}  // namespace lab20
