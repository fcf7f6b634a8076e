#include "dist/core/tensor_list.h"

namespace dist {

void TensorList::own() {
  if (parts_ == 0) {
    if (!borrowed_.empty()) owned_.assign(borrowed_.begin(), borrowed_.end());
  } else {
    const Tensor flat = borrowed_[0].view({borrowed_[0].numel()});
    const std::int64_t each = flat.numel() / static_cast<std::int64_t>(parts_);
    for (std::size_t i = 0; i < parts_; ++i)
      owned_.push_back(flat.narrow(static_cast<std::int64_t>(i) * each, each));
  }
  is_one_ = is_one_ && parts_ == 0;
  borrowed_ = {};
  parts_ = 0;
}

}  // namespace dist
