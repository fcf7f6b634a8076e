#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

// One line of windows, the first of which begins at pixel `top` of the plane. Kernel and stride are numbers,
// or constants if they are known at compile time: then the windows of a line are compared with vector
// instructions.
template <class T, class Kernel, class Stride>
void pool_line(T* best, std::int32_t* winners, std::int64_t windows, const T* plane, std::int64_t width,
               std::int64_t top, Kernel kernel, Stride stride) {
  using C = ComputeType<T>;
  const T* const first = plane + top;
  DIST_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < windows; ++i) {
    C largest = first[i * stride];
    std::int32_t place = 0, nan = -1;  // two places: a second comparison for one would prevent vectors
    for (std::int64_t y = 0; y < kernel; ++y) {
      for (std::int64_t x = 0; x < kernel; ++x) {
        const C pixel = first[i * stride + y * width + x];
        const bool keeps = pixel <= largest;
        largest = keeps ? largest : pixel;
        const auto here = static_cast<std::int32_t>(y * width + x);
        place = keeps ? place : here;
        nan = pixel != pixel ? here : nan;
      }
    }
    best[i] = static_cast<T>(nan >= 0 ? std::numeric_limits<C>::quiet_NaN() : largest);
    winners[i] = (nan >= 0 ? nan : place) + static_cast<std::int32_t>(top + i * stride);
  }
}

}  // namespace

void PlainOps::max_pool(Tensor out, Tensor winners, const Tensor& in, const Windows& windows) const {
  const std::int64_t planes = in.size(0) * in.size(1), height = in.size(2), width = in.size(3);
  const std::int64_t lines = out.size(2), count = out.size(3);
  visit_float(in.dtype(), [&]<class T>() {
    T* const best = elements<T>(out);
    std::int32_t* const place = elements<std::int32_t>(winners);
    const T* const from = elements<T>(in);
    const auto pool = [=](auto kernel, auto stride) {
      const std::int64_t per_line = count * windows.kernel * windows.kernel;
      for_each_row_run(planes * lines, per_line, [=](std::int64_t begin, std::int64_t end) {
        vectorised([=] {
          for (std::int64_t line = begin; line < end; ++line)
            pool_line(best + line * count, place + line * count, count, from + line / lines * height * width,
                      width, line % lines * stride * width, kernel, stride);
        });
      });
    };
    constexpr std::integral_constant<std::int64_t, 2> two;
    if (windows.kernel == 2 && windows.stride == 2)
      pool(two, two);
    else
      pool(windows.kernel, windows.stride);
  });
}

void PlainOps::max_pool_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& winners) const {
  const std::int64_t planes = grad_in.size(0) * grad_in.size(1), pixels = grad_in.size(2) * grad_in.size(3);
  const std::int64_t count = grad_out.size(2) * grad_out.size(3);
  visit_float(grad_in.dtype(), [&]<class T>() {
    T* const to = elements<T>(grad_in);
    const T* const from = elements<T>(grad_out);
    const std::int32_t* const place = elements<std::int32_t>(winners);
    for_each_row_run(planes, pixels, [=](std::int64_t begin, std::int64_t end) {
      std::vector<ComputeType<T>> sums(static_cast<std::size_t>(pixels));
      for (std::int64_t p = begin; p < end; ++p) {
        std::ranges::fill(sums, 0);
        for (std::int64_t i = p * count; i < (p + 1) * count; ++i)
          sums[static_cast<std::size_t>(place[i])] += from[i];
        for_each_element(pixels, [plane = to + p * pixels, all = sums.data()](std::int64_t i) {
          plane[i] = static_cast<T>(all[i]);
        });
      }
    });
  });
}

}  // namespace dist::nn
