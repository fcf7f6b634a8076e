// Conversions between dtypes: element by element, as the two sides differ in width.
#include "dist/core/device/cuda/kernels.h"
#include "dist/core/device/cuda/packs.cuh"

namespace dist::cuda_kernels {

namespace {

template <class To, class From>
__global__ void convert_kernel(To* to, const From* from, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += grid_stride()) to[i] = convert_element<To>(from[i]);
}

}  // namespace

void convert(cudaStream_t stream, TensorView to, TensorView from) {
  visit_dtype(to.dtype, [&]<class To>() {
    visit_dtype(from.dtype, [&]<class From>() {
      launch("convert", to, blocks_for(to.count), stream, convert_kernel<To, From>, elements<To>(to),
             elements<From>(from), to.count);
    });
  });
}

}  // namespace dist::cuda_kernels
