#include <algorithm>

#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

template <class T>
struct Plane {
  const T* pixels;
  std::int64_t width;
};

// One line of windows, of which `top` is the first pixel. All windows are compared with the same pixel of the
// kernel at once, which is how vectors compare; a stride that is known when compiling makes for better ones.
template <std::int64_t fixed_stride, class T>
void pool_line(T* best, std::int32_t* place, std::int64_t count, Plane<T> plane, std::int64_t top,
               const Windows& windows) {
  const std::int64_t stride = fixed_stride != 0 ? fixed_stride : windows.stride;
  for (std::int64_t ky = 0; ky < windows.kernel; ++ky) {
    for (std::int64_t kx = 0; kx < windows.kernel; ++kx) {
      const std::int64_t offset = top + ky * plane.width + kx;
      const T* const from = plane.pixels + offset;
      const bool first = ky == 0 && kx == 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const T pixel = from[i * stride];
        const bool wins = first | (pixel > best[i]) | (pixel != pixel);
        best[i] = wins ? pixel : best[i];
        place[i] = wins ? static_cast<std::int32_t>(offset + i * stride) : place[i];
      }
    }
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
    vectorised([=] {
      for (std::int64_t p = 0; p < planes; ++p) {
        for (std::int64_t y = 0; y < lines; ++y) {
          const std::int64_t at = (p * lines + y) * count, top = y * windows.stride * width;
          const Plane<T> plane{from + p * height * width, width};
          if (windows.stride == 2)
            pool_line<2>(best + at, place + at, count, plane, top, windows);
          else
            pool_line<0>(best + at, place + at, count, plane, top, windows);
        }
      }
    });
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
