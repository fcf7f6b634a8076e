// The arithmetic of lab 20's model, on both sides. Its numbers are the grader's: each rank gets its own.
#pragma once

#include <cstddef>
#include <vector>

namespace lab20 {

using Numbers = std::vector<double>;

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
