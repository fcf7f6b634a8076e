// The arithmetic of lab 19 on one rank, which both sides know, and how numbers travel. A rank gets its
// own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

namespace lab19 {

using Numbers = std::vector<double>;

// The entries [first, first + count) of `size` that rank r of n has, by the rule of torch.chunk.
struct Part {
  std::int64_t first = 0, count = 0;
};
inline Part right_part(std::int64_t size, std::int64_t rank, std::int64_t n) {
  const std::int64_t most = (size + n - 1) / n, first = std::min(rank * most, size);
  return {first, std::min(most, size - first)};
}

// A matrix, row by row.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  Numbers at = Numbers(static_cast<std::size_t>(rows * columns));

  double& operator()(std::int64_t row, std::int64_t column) {
    return at[static_cast<std::size_t>(row * columns + column)];
  }
  double operator()(std::int64_t row, std::int64_t column) const {
    return at[static_cast<std::size_t>(row * columns + column)];
  }
  Matrix rows_of(Part part) const {
    Matrix some{part.count, columns};
    for (std::int64_t i = 0; i < part.count; ++i)
      for (std::int64_t k = 0; k < columns; ++k) some(i, k) = (*this)(part.first + i, k);
    return some;
  }
  Matrix transposed() const {
    Matrix t{columns, rows};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < columns; ++k) t(k, i) = (*this)(i, k);
    return t;
  }
  Matrix columns_of(Part part) const { return transposed().rows_of(part).transposed(); }
  Matrix sum_of_rows() const {
    Matrix sum{1, columns};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < columns; ++k) sum(0, k) += (*this)(i, k);
    return sum;
  }
};

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product{a.rows, b.columns};
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) product(i, j) += a(i, k) * b(k, j);
  return product;
}

// a + factor * b; b may have one row, which is then added to every row.
inline Matrix plus(Matrix a, const Matrix& b, double factor = 1) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k) a(i, k) += factor * b(b.rows == 1 ? 0 : i, k);
  return a;
}

// The grader overwrites a whole layer with this number when it has been cut.
inline constexpr double overwritten = 4096;

inline Matrix times(Matrix matrix, double factor) {
  for (double& element : matrix.at) element *= factor;
  return matrix;
}

// One matrix below the other.
inline Matrix below(const Matrix& upper, const Matrix& lower) {
  Matrix both{upper.rows + lower.rows, upper.columns, upper.at};
  both.at.insert(both.at.end(), lower.at.begin(), lower.at.end());
  return both;
}

inline nlohmann::json as_json(const Matrix& matrix) { return {matrix.rows, matrix.columns, matrix.at}; }
inline Matrix matrix_from(const nlohmann::json& said) { return {said.at(0), said.at(1), said.at(2)}; }

// ------------------------------------------------------------- what is between the two layers of a pair

// No heads: each element is squared. Otherwise attention: the columns are the queries of all heads, then the
// keys, then the values.
inline Matrix head(const Matrix& hidden, std::int64_t which, std::int64_t at, std::int64_t heads) {
  const std::int64_t d = hidden.columns / heads / 3;
  return hidden.columns_of({which * heads * d + at * d, d});
}

inline Matrix probabilities(const Matrix& queries, const Matrix& keys) {
  Matrix p = queries * keys.transposed();
  for (std::int64_t i = 0; i < p.rows; ++i) {
    double most = p(i, 0), sum = 0;
    for (std::int64_t k = 0; k < p.columns; ++k) most = std::max(most, p(i, k));
    for (std::int64_t k = 0; k < p.columns; ++k) sum += p(i, k) = std::exp((p(i, k) - most) / 8);
    for (std::int64_t k = 0; k < p.columns; ++k) p(i, k) /= sum;
  }
  return p;
}

inline Matrix middle_forward(const Matrix& hidden, std::int64_t heads, bool is_attention) {
  Matrix inner = hidden;
  if (!is_attention) {
    for (double& element : inner.at) element *= element;
    return inner;
  }
  Matrix all{0, hidden.rows};
  for (std::int64_t at = 0; at < heads; ++at)
    all = below(all, (probabilities(head(hidden, 0, at, heads), head(hidden, 1, at, heads)) *
                      head(hidden, 2, at, heads))
                         .transposed());
  return all.transposed();
}

inline Matrix middle_backward(const Matrix& hidden, const Matrix& grad, std::int64_t heads,
                              bool is_attention) {
  Matrix result = hidden;
  if (!is_attention) {
    for (std::size_t i = 0; i < result.at.size(); ++i) result.at[i] = 2 * hidden.at[i] * grad.at[i];
    return result;
  }
  for (std::int64_t at = 0; at < heads; ++at) {
    const Matrix q = head(hidden, 0, at, heads), k = head(hidden, 1, at, heads),
                 v = head(hidden, 2, at, heads), p = probabilities(q, k);
    const Matrix of_output = grad.columns_of({at * v.columns, v.columns});
    Matrix of_scores = of_output * v.transposed();
    for (std::int64_t i = 0; i < p.rows; ++i) {
      double mean = 0;
      for (std::int64_t j = 0; j < p.columns; ++j) mean += p(i, j) * of_scores(i, j);
      for (std::int64_t j = 0; j < p.columns; ++j) of_scores(i, j) = p(i, j) * (of_scores(i, j) - mean) / 8;
    }
    const Matrix of[] = {of_scores * k, of_scores.transposed() * q, p.transposed() * of_output};
    for (std::int64_t which = 0; which < 3; ++which)
      for (std::int64_t i = 0; i < hidden.rows; ++i)
        for (std::int64_t c = 0; c < v.columns; ++c)
          result(i, (which * heads + at) * v.columns + c) = of[which](i, c);
  }
  return result;
}

// --------------------------------------------------------------------------------------- layers and pairs

struct Layer {
  Matrix weight, bias;  // {outputs, inputs}, {1, outputs}
  Matrix forward(const Matrix& x) const { return plus(x * weight.transposed(), bias); }
  Layer column_part(Part part) const { return {weight.rows_of(part), bias.columns_of(part)}; }
  Layer row_part(Part part) const { return {weight.columns_of(part), bias}; }
};
inline Layer plus(const Layer& a, const Layer& b) { return {plus(a.weight, b.weight), plus(a.bias, b.bias)}; }

inline nlohmann::json as_json(const Layer& layer) { return {as_json(layer.weight), as_json(layer.bias)}; }
inline Layer layer_from(const nlohmann::json& said) {
  return {matrix_from(said.at(0)), matrix_from(said.at(1))};
}

// The sizes of a pair. An MLP has `inner` columns between its layers; attention has `heads` heads, and inner
// is the width.
struct Sizes {
  std::int64_t t = 1, width = 1, inner = 1, heads = 1;
  bool is_attention = false;
};

struct TwoLayers {
  Layer first, second;
};
// Which of the columns between the layers a rank has.
inline Part inner_part(const Sizes& sizes, std::int64_t rank, std::int64_t n) {
  if (!sizes.is_attention) return right_part(sizes.inner, rank, n);
  const Part heads = right_part(sizes.heads, rank, n);
  const std::int64_t d = sizes.inner / sizes.heads;
  return {heads.first * d, heads.count * d};
}
inline TwoLayers part_of_pair(const TwoLayers& whole, const Sizes& sizes, std::int64_t rank, std::int64_t n) {
  const Part inner = inner_part(sizes, rank, n);
  if (!sizes.is_attention) return {whole.first.column_part(inner), whole.second.row_part(inner)};
  Layer first{{0, sizes.width}, {0, 1}};
  for (std::int64_t which = 0; which < 3; ++which) {
    const Layer some = whole.first.column_part({which * sizes.inner + inner.first, inner.count});
    first = {below(first.weight, some.weight), below(first.bias, some.bias.transposed())};
  }
  return {{first.weight, first.bias.transposed()}, whole.second.row_part(inner)};
}

}  // namespace lab19
