// Joined: the tensors of a list as one tensor, for the calls of NCCL that need that.
#pragma once

#include <optional>

#include "dist/core/tensor.h"
#include "dist/core/tensor_list.h"

namespace dist::nccl {

class Joined {
 public:
  // For a list whose tensors have equal sizes; otherwise nullopt. Sizes are equal on all ranks, but addresses
  // are not, so addresses must not decide: ranks that make different calls of NCCL hang.
  static std::optional<Joined> of(const TensorList& list);

  const TensorView& view() const { return view_; }
  // Where the tensors are not contiguous: copies them into the view, and back, on the current stream.
  void collect(const TensorList& list) const;
  void spread(const TensorList& list) const;

 private:
  TensorView part(const TensorList& list, std::size_t i) const;

  TensorView view_;
  Tensor lent_;  // its memory; undefined where the tensors are contiguous
};

}  // namespace dist::nccl
