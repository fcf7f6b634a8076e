// Joined: the tensors of a list as one, for the calls of NCCL that take them so.
#pragma once

#include <optional>

#include "dist/core/tensor.h"
#include "dist/core/tensor_list.h"

namespace dist::nccl {

class Joined {
 public:
  // Of a list whose tensors are equally long; else nothing. Lengths are equal on all ranks. Places are not,
  // so they must not count: ranks that make different calls of NCCL hang.
  static std::optional<Joined> of(const TensorList& list);

  const TensorView& view() const { return view_; }
  // Enqueued on the current stream, where the tensors lie apart: from them into the view, and back.
  void collect(const TensorList& list) const;
  void spread(const TensorList& list) const;

 private:
  TensorView part(const TensorList& list, std::size_t i) const;

  TensorView view_;
  Tensor lent_;  // its memory; undefined where the tensors lie behind each other
};

}  // namespace dist::nccl
