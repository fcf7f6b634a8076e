#include <vector>

#include "dist/nn/functors.h"
#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

void PlainOps::add_channels(Tensor out, const Tensor& of_channels) const {
  const Channels c(out);
  visit_float(out.dtype(), [&]<class T>() {
    T* const to = elements<T>(out);
    const T* const from = elements<T>(of_channels);
    if (c.inner == 1)
      for_each_row(c.batch, c.channels, [=](std::int64_t row) {
        for_each_element(c.channels, [sums = to + row * c.channels, from](std::int64_t i) {
          accumulate(sums[i], from[i]);
        });
      });
    else
      for_each_row(c.batch * c.channels, c.inner, [=](std::int64_t row) {
        for_each_element(c.inner, [sums = to + row * c.inner, x = from[row % c.channels]](std::int64_t i) {
          accumulate(sums[i], x);
        });
      });
  });
}

// Sums are in double: each is over as many elements as a batch of images has pixels. Rows of channels are
// added in the order in which they are in memory.
void PlainOps::add_channel_sums(Tensor of_channels, const Tensor& in) const {
  const Channels c(in);
  visit_float(in.dtype(), [&]<class T>() {
    const T* const from = elements<T>(in);
    T* const to = elements<T>(of_channels);
    if (c.inner == 1) {
      in_columns(c.batch, c.channels, [=](std::int64_t begin, std::int64_t end) {
        std::vector<double> totals(static_cast<std::size_t>(end - begin));
        for (std::int64_t n = 0; n < c.batch; ++n)
          for_each_element(end - begin, [sums = totals.data(), row = from + n * c.channels + begin](
                                            std::int64_t i) { sums[i] += row[i]; });
        for_each_element(end - begin, [sums = totals.data(), to = to + begin](std::int64_t i) {
          accumulate(to[i], sums[i]);
        });
      });
      return;
    }
    for_each_row(c.channels, c.batch * c.inner, [=](std::int64_t channel) {
      double total = 0;
      for (std::int64_t n = 0; n < c.batch; ++n)
        total += sum_of(
            c.inner,
            [row = from + (n * c.channels + channel) * c.inner](std::int64_t i) -> double { return row[i]; });
      accumulate(to[channel], total);
    });
  });
}

void PlainOps::relu(Tensor out, const Tensor& in) const { relu_backward(out, in, in); }

void PlainOps::relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const {
  visit_float(out.dtype(), [&]<class T>() {
    for_each_element(out.numel(),
                     [to = elements<T>(out), from = elements<T>(grad), deciding = elements<T>(result)](
                         std::int64_t i) { to[i] = functors::Relu{}(from[i], deciding[i]); });
  });
}

}  // namespace dist::nn
