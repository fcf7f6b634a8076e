#include "dist/core/tensor_list.h"

namespace dist {

void TensorList::own() {
  if (!is_split_) {
    if (!borrowed_.empty()) owned_.assign(borrowed_.begin(), borrowed_.end());
  } else {
    const Tensor flat = borrowed_[0].view({borrowed_[0].numel()});
    for (std::size_t i = 0; i < size_; ++i)
      owned_.push_back(flat.narrow(static_cast<std::int64_t>(i) * first_.count, first_.count));
  }
  borrowed_ = {};
  is_split_ = false;
}

}  // namespace dist
