#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

// A matrix whose rows are contiguous.
Tensor untransposed(const Ops::Matrix& m) {
  if (!m.transposed) return m.of;
  const std::int64_t rows = m.of.size(1), columns = m.of.size(0);
  Tensor t = empty({rows, columns}, m.of.dtype(), cpu);
  visit_float(t.dtype(), [&]<class T>() {
    const T* const from = elements<T>(m.of);
    T* const to = elements<T>(t);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) to[i * columns + j] = from[j * rows + i];
  });
  return t;
}

// sums[j] += factors[0] rows[0][j] + factors[1] rows[1][j] + ...: several rows at once, so that each sum is
// loaded and stored once for all of them.
template <int at_once, class T>
void add_rows(T* sums, const T* factors, std::int64_t between, const T* rows, std::int64_t width) {
  T factor[at_once];
  for (int k = 0; k < at_once; ++k) factor[k] = factors[k * between];
  DIST_INDEPENDENT_ITERATIONS
  for (std::int64_t j = 0; j < width; ++j) {
    T sum = sums[j];
    for (int k = 0; k < at_once; ++k) sum += factor[k] * rows[k * width + j];
    sums[j] = sum;
  }
}

}  // namespace

void PlainOps::matmul(Tensor out, Matrix a, Matrix b, bool adds) const {
  if (!adds) out.zero_();
  const Tensor rows = untransposed(b);
  const std::int64_t m = out.size(0), n = out.size(1), depth = rows.size(0);
  const std::int64_t down = a.transposed ? 1 : depth,
                     along = a.transposed ? m : 1;  // in a, from element to element
  visit_float(out.dtype(), [&]<class T>() {
    const T *const left = elements<T>(a.of), *const right = elements<T>(rows);
    T* const to = elements<T>(out);
    vectorised([=] {
      for (std::int64_t i = 0; i < m; ++i) {
        std::int64_t k = 0;
        for (; k + 4 <= depth; k += 4)
          add_rows<4>(to + i * n, left + i * down + k * along, along, right + k * n, n);
        for (; k < depth; ++k) add_rows<1>(to + i * n, left + i * down + k * along, along, right + k * n, n);
      }
    });
  });
}

}  // namespace dist::nn
