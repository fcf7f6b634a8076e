// Parts along any axis of a tensor, tensors joined along an axis, and axes exchanged. Along axis 0 a part is
// a view; along others it is a copy, because tensors are contiguous. A negative axis counts from the back. A
// call that is refused throws Error{invalid_argument}, which names the caller's line.
//
// Two functions divide an axis among n ranks. chunk() is balanced: 6 rows on 4 ranks are 1, 2, 1, 2.
// torch_chunk() divides as PyTorch's torch.chunk and DTensor do: 2, 2, 2, 0.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/tensor.h"

namespace dist {

// Entries `start` to `start + length` - 1 of an axis: a view that shares storage if the axis is the first, a
// copy otherwise.
Tensor narrow(const Tensor& t, std::int64_t axis, std::int64_t start, std::int64_t length,
              Caller at = Caller::here());
// The inverse: copies `part` into these entries of `into`, which has the same other sizes, dtype and device.
Tensor& put(Tensor& into, std::int64_t axis, std::int64_t start, const Tensor& part,
            Caller at = Caller::here());

// n parts along an axis, each as narrow() makes it, whose sizes differ by at most one.
std::vector<Tensor> chunk(const Tensor& t, std::int64_t n, std::int64_t axis, Caller at = Caller::here());
// n parts of ceil(size / n) entries, of which the last can be smaller or empty. (torch.chunk returns only
// those that are not empty; its DTensor adds the empty ones, as here.)
std::vector<Tensor> torch_chunk(const Tensor& t, std::int64_t n, std::int64_t axis,
                                Caller at = Caller::here());

// A new tensor with these tensors, of which there is at least one, one after the other along an axis. Their
// other sizes, dtypes and devices are equal.
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t axis, Caller at = Caller::here());

// A new tensor with two axes exchanged. On a GPU this is one copy for each entry of the shorter of the two
// axes and of all others before the longer one.
Tensor transpose(const Tensor& t, std::int64_t axis0, std::int64_t axis1, Caller at = Caller::here());

}  // namespace dist
