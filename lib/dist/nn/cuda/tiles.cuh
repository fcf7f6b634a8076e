// Matrix products within a block of threads, in f32: tiles in shared memory, and results that are spread over
// the registers of 16 x 16 threads. What they come from and go to may be in bf16.
#pragma once

#include <cstdint>

#include "dist/nn/cuda/each.cuh"
#include "dist/nn/elements.h"

namespace dist::nn::cuda_kernels {

inline constexpr int side = 16;
static_assert(side * side == threads_per_block);

// This thread's place in the square.
__device__ inline int down() { return static_cast<int>(threadIdx.x) / side; }
__device__ inline int along() { return static_cast<int>(threadIdx.x) % side; }

// In shared memory. The unused last column has consecutive rows begin in different banks, which can be read
// at the same time.
template <int rows, int width>
struct Tile {
  float at[rows][width + 1];
};

// The rows of a matrix in the GPU's memory; `row` is the distance from one to the next.
template <class T>
struct MatrixRows {
  T* first;
  std::int64_t row, count;
  int width;

  __device__ T* operator[](std::int64_t i) const { return first + i * row; }
};

// Rows [begin, begin + rows), with 0 outside of the matrix. The caller waits before and after.
template <int rows, int width, class T>
__device__ void load(Tile<rows, width>& tile, const MatrixRows<T>& from, std::int64_t begin) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * width; i += threads_per_block) {
    const int row = i / width, column = i % width;
    const bool is_there = begin + row < from.count && column < from.width;
    tile.at[row][column] = is_there ? static_cast<float>(from[begin + row][column]) : 0.F;
  }
}

// This thread's elements of a matrix [rows, columns]: of[i][j] is element (row(i), column(j)). Loops over
// them must be unrolled: what is indexed at run time cannot be in registers.
template <int rows, int columns>
struct Part {
  static constexpr int height = rows / side, width = columns / side;
  float of[height][width];

  __device__ static int row(int i) { return down() + side * i; }
  __device__ static int column(int j) { return along() + side * j; }
};

// part(i, j) += the sum over k < depth of left(i, k) right(k, j)
template <int depth, int rows, int columns, class Left, class Right>
__device__ void add_product(Part<rows, columns>& part, const Left& left, const Right& right) {
  using P = Part<rows, columns>;
#pragma unroll 4
  for (int k = 0; k < depth; ++k) {
    float l[P::height], r[P::width];
#pragma unroll
    for (int i = 0; i < P::height; ++i) l[i] = left(P::row(i), k);
#pragma unroll
    for (int j = 0; j < P::width; ++j) r[j] = right(k, P::column(j));
#pragma unroll
    for (int i = 0; i < P::height; ++i)
#pragma unroll
      for (int j = 0; j < P::width; ++j) part.of[i][j] += l[i] * r[j];
  }
}

// Adds the part to rows [begin, begin + rows) of the matrix.
template <int rows, int columns, class T>
__device__ void add_to(const MatrixRows<T>& to, std::int64_t begin, const Part<rows, columns>& part) {
  using P = Part<rows, columns>;
#pragma unroll
  for (int i = 0; i < P::height; ++i)
#pragma unroll
    for (int j = 0; j < P::width; ++j)
      if (begin + P::row(i) < to.count && P::column(j) < to.width)
        accumulate(to[begin + P::row(i)][P::column(j)], part.of[i][j]);
}

// Combines `mine` of the 16 threads that have the same rows, pairwise; each of them gets the result.
template <class F>
__device__ float over_row(float mine, const F& combine) {
  for (int distance = side / 2; distance > 0; distance /= 2)
    mine = combine(mine, __shfl_xor_sync(~0U, mine, distance));
  return mine;
}

}  // namespace dist::nn::cuda_kernels
