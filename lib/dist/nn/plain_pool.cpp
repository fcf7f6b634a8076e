#include <limits>
#include <type_traits>

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
  const T* const first = plane + top;
  DIST_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < windows; ++i) {
    T largest = first[i * stride];
    std::int32_t place = 0, nans = 0;  // counted apart: a second comparison would prevent vectors
    for (std::int64_t y = 0; y < kernel; ++y) {
      for (std::int64_t x = 0; x < kernel; ++x) {
        const T pixel = first[i * stride + y * width + x];
        const bool keeps = pixel <= largest;
        largest = keeps ? largest : pixel;
        place = keeps ? place : static_cast<std::int32_t>(y * width + x);
        nans |= pixel != pixel;
      }
    }
    best[i] = nans != 0 ? std::numeric_limits<T>::quiet_NaN() : largest;
    winners[i] = place + static_cast<std::int32_t>(top + i * stride);
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
      vectorised([=] {
        for (std::int64_t line = 0; line < planes * lines; ++line)
          pool_line(best + line * count, place + line * count, count, from + line / lines * height * width,
                    width, line % lines * stride * width, kernel, stride);
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
  grad_in.zero_();
  const std::int64_t planes = grad_in.size(0) * grad_in.size(1), pixels = grad_in.size(2) * grad_in.size(3);
  const std::int64_t count = grad_out.size(2) * grad_out.size(3);
  visit_float(grad_in.dtype(), [&]<class T>() {
    T* const to = elements<T>(grad_in);
    const T* const from = elements<T>(grad_out);
    const std::int32_t* const place = elements<std::int32_t>(winners);
    for (std::int64_t p = 0; p < planes; ++p)
      for (std::int64_t i = p * count; i < (p + 1) * count; ++i) to[p * pixels + place[i]] += from[i];
  });
}

}  // namespace dist::nn
