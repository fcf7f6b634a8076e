#include <algorithm>
#include <vector>

#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

// sums[j] += factors[0] rows[0][j] + factors[1] rows[1][j] + ...: several rows at once, so that each sum is
// loaded and stored once for all of them.
template <int at_once, class T>
void add_rows(T* sums, const T* factors, std::int64_t between, const T* rows, std::int64_t row,
              std::int64_t width) {
  T factor[at_once];
  for (int k = 0; k < at_once; ++k) factor[k] = factors[k * between];
  DIST_INDEPENDENT_ITERATIONS
  for (std::int64_t j = 0; j < width; ++j) {
    T sum = sums[j];
    for (int k = 0; k < at_once; ++k) sum += factor[k] * rows[k * row + j];
    sums[j] = sum;
  }
}

// The elements of a transposed matrix, [k, n] for one of [n, k].
template <class T>
std::vector<T> untransposed(const T* from, std::int64_t row, std::int64_t k, std::int64_t n) {
  std::vector<T> to(static_cast<std::size_t>(k * n));
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[static_cast<std::size_t>(i * n + j)] = from[j * row + i];
  return to;
}

template <class T>
void multiply(const Gemm& g, const T* a, const T* b, T* c) {
  std::vector<T> turned;
  if (g.b_transposed) turned = untransposed(b, g.b_row, g.k, g.n);
  const T* const right = g.b_transposed ? turned.data() : b;
  const std::int64_t b_row = g.b_transposed ? g.n : g.b_row;
  // In a, from element to element.
  const std::int64_t down = g.a_transposed ? 1 : g.a_row, along = g.a_transposed ? g.a_row : 1;
  for_each_row_run(g.m, g.n * g.k, [=](std::int64_t begin, std::int64_t end) {
    vectorised([=] {
      for (std::int64_t i = begin; i < end; ++i) {
        T* const sums = c + i * g.c_row;
        if (!g.adds) std::fill_n(sums, g.n, T(0));
        const T* const factors = a + i * down;
        std::int64_t k = 0;
        for (; k + 4 <= g.k; k += 4)
          add_rows<4>(sums, factors + k * along, along, right + k * b_row, b_row, g.n);
        for (; k < g.k; ++k) add_rows<1>(sums, factors + k * along, along, right + k * b_row, b_row, g.n);
      }
    });
  });
}

}  // namespace

void PlainOps::gemm(const Gemm& shape, const float* a, const float* b, float* c) const {
  multiply(shape, a, b, c);
}
void PlainOps::gemm(const Gemm& shape, const double* a, const double* b, double* c) const {
  multiply(shape, a, b, c);
}

// bf16 is multiplied as f32, and each result is rounded once.
void PlainOps::matmul(Tensor out, Matrix a, Matrix b, bool adds) const {
  if (out.dtype() == DType::bf16) {
    const Tensor sums = adds ? out.to(DType::f32) : empty(out.shape(), DType::f32, cpu);
    matmul(sums, {a.of.to(DType::f32), a.transposed}, {b.of.to(DType::f32), b.transposed}, adds);
    out.copy_(sums);
    return;
  }
  const Gemm shape{.m = out.size(0),
                   .n = out.size(1),
                   .k = a.of.size(a.transposed ? 0 : 1),
                   .a_row = a.of.size(1),
                   .b_row = b.of.size(1),
                   .c_row = out.size(1),
                   .a_transposed = a.transposed,
                   .b_transposed = b.transposed,
                   .adds = adds};
  visit_computed(out.dtype(),
                 [&]<class T>() { gemm(shape, elements<T>(a.of), elements<T>(b.of), elements<T>(out)); });
}

// In bf16 the product is added to the bias, so that each sum is rounded once.
void PlainOps::affine(Tensor out, Matrix a, Matrix b, const Tensor& bias) const {
  if (out.dtype() != DType::bf16) return Ops::affine(out, a, b, bias);
  add_channels(out.zero_(), bias);
  matmul(out, a, b, true);
}

}  // namespace dist::nn
