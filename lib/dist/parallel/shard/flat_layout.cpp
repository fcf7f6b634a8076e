#include "dist/parallel/shard/flat_layout.h"

#include "dist/core/shape.h"
#include "dist/core/view.h"

namespace dist {

FlatLayout::FlatLayout(const std::vector<Shape>& parameters, int n) : n_(n) {
  for (const Shape& shape : parameters) {
    const std::int64_t rows = shape.empty() ? 1 : shape[0], count = product(shape);
    const std::int64_t width = rows == 0 ? 0 : count / rows;
    parts_.push_back({shape, rows, width, shard_, whole_});
    shard_ += torch_chunk_begin(rows, 1, n) * width;
    whole_ += count;
  }
}

std::int64_t FlatLayout::first_row(std::size_t i, int r) const {
  return torch_chunk_begin(parts_[i].rows, r, n_);
}

std::int64_t FlatLayout::rows(std::size_t i, int r) const { return first_row(i, r + 1) - first_row(i, r); }

Shape FlatLayout::part_shape(std::size_t i, int r) const {
  Shape shape = parts_[i].shape;
  if (shape.empty()) return rows(i, r) == 1 ? Shape{} : Shape{0};
  shape[0] = rows(i, r);
  return shape;
}

Tensor FlatLayout::part(const Tensor& shard, std::size_t i, int r) const {
  const Part& p = parts_[i];
  return shard.narrow(p.in_shard, rows(i, r) * p.width).view(part_shape(i, r));
}

Tensor FlatLayout::whole(const Tensor& flat, std::size_t i) const {
  return flat.narrow(parts_[i].in_all, parts_[i].rows * parts_[i].width).view(parts_[i].shape);
}

Tensor FlatLayout::part_of(const Tensor& whole, std::size_t i, int r) const {
  const std::int64_t width = parts_[i].width;
  return whole.view({whole.numel()})
      .narrow(first_row(i, r) * width, rows(i, r) * width)
      .view(part_shape(i, r));
}

void FlatLayout::unpack(const Tensor& shards, const Tensor& flat) const {
  for (int r = 0; r < n_; ++r) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& p = parts_[i];
      const std::int64_t count = rows(i, r) * p.width;
      if (count > 0)
        flat.narrow(p.in_all + first_row(i, r) * p.width, count)
            .copy_(shards.narrow(r * shard_ + p.in_shard, count));
    }
  }
}

void FlatLayout::pack(const Tensor& flat, const Tensor& shards) const {
  if (all_elements() != whole_) Tensor(shards).zero_();
  for (int r = 0; r < n_; ++r) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& p = parts_[i];
      const std::int64_t count = rows(i, r) * p.width;
      if (count > 0)
        shards.narrow(r * shard_ + p.in_shard, count)
            .copy_(flat.narrow(p.in_all + first_row(i, r) * p.width, count));
    }
  }
}

}  // namespace dist
