#include "dist/parallel/checkpoint/pieces.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "dist/core/fail.h"
#include "dist/parallel/shard/fully_shard.h"

namespace dist {

namespace {

Piece all_of(std::string name, const Tensor& t) {
  return {std::move(name), t, t.shape(), Shape(static_cast<std::size_t>(t.dim()), 0)};
}

// The number of elements from one entry of axis k to the next.
std::int64_t stride(const Shape& shape, std::size_t k) {
  std::int64_t elements = 1;
  for (std::size_t i = k + 1; i < shape.size(); ++i) elements *= shape[i];
  return elements;
}

// A box in common, line by line: entries [low, high) along each axis, as numbers in the whole tensor.
struct Common {
  const Piece &from, &to;
  Shape low, high;

  std::int64_t copy(std::size_t axis, std::int64_t in_from, std::int64_t in_to) const {
    const auto begin = [&](const Piece& piece, std::int64_t at) {
      return at + (low[axis] - piece.offset[axis]) * stride(piece.data.shape(), axis);
    };
    in_from = begin(from, in_from), in_to = begin(to, in_to);
    const std::int64_t count = high[axis] - low[axis];
    if (axis + 1 == low.size()) {
      to.data.view({to.data.numel()})
          .narrow(in_to, count)
          .copy_(from.data.view({from.data.numel()}).narrow(in_from, count));
      return count;
    }
    std::int64_t copied = 0;
    for (std::int64_t i = 0; i < count; ++i)
      copied += copy(axis + 1, in_from + i * stride(from.data.shape(), axis),
                     in_to + i * stride(to.data.shape(), axis));
    return copied;
  }
};

}  // namespace

Pieces pieces_of(nn::Module& module) {
  Pieces pieces;
  const std::vector<ShardedParameter> sharded = sharded_parameters(module);
  for (const auto& [name, parameter] : module.named_parameters()) {
    Piece piece = all_of(name, parameter->value);
    const auto at = std::ranges::find(sharded, parameter, &ShardedParameter::parameter);
    if (at != sharded.end()) {
      piece.whole = at->shape;
      if (!piece.whole.empty()) piece.offset.assign(piece.whole.size(), 0), piece.offset[0] = at->first_row;
      if (piece.whole.empty()) piece.offset.clear();
    }
    pieces.push_back(std::move(piece));
  }
  for (const auto& [name, buffer] : module.named_buffers()) pieces.push_back(all_of(name, buffer->value));
  return pieces;
}

// The optimizer calls the state of its parameter 3 "3.exp_avg".
Pieces pieces_of(const nn::Optimizer& optimizer,
                 const std::function<Pieces(const nn::Parameter& parameter, const Tensor& tensor)>& of) {
  Pieces pieces;
  for (const auto& [key, tensor] : optimizer.state_dict()) {
    std::size_t i = 0;
    const char* const end = key.data() + key.size();
    const auto [rest, error] = std::from_chars(key.data(), end, i);
    if (error != std::errc()) {
      pieces.push_back(all_of("optimizer." + key, tensor));
      continue;
    }
    for (Piece& piece : of(*optimizer.parameters().at(i), tensor)) {
      piece.name = "optimizer" + std::string(rest, end) + "." + piece.name;
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

Pieces pieces_of(const nn::Optimizer& optimizer, nn::Module& module) {
  const Pieces of_module = pieces_of(module);
  const auto all = module.parameters();
  return pieces_of(optimizer, [&](const nn::Parameter& parameter, const Tensor& tensor) {
    const auto at = std::ranges::find(all, &parameter);
    if (at == all.end())
      fail(Errc::invalid_argument, "pieces_of: a parameter of the optimizer is not one of {}", module.str());
    Piece piece = of_module[static_cast<std::size_t>(at - all.begin())];
    piece.data = tensor;
    return Pieces{std::move(piece)};
  });
}

std::int64_t copy_common(const Piece& from, const Piece& to) {
  if (from.whole.empty()) {
    if (from.data.numel() == 0 || to.data.numel() == 0) return 0;
    Tensor(to.data).copy_(from.data);
    return 1;
  }
  Common common{from, to, {}, {}};
  for (std::size_t k = 0; k < from.whole.size(); ++k) {
    const auto end = [k](const Piece& piece) { return piece.offset[k] + piece.data.shape()[k]; };
    common.low.push_back(std::max(from.offset[k], to.offset[k]));
    common.high.push_back(std::min(end(from), end(to)));
    if (common.low[k] >= common.high[k]) return 0;
  }
  return common.copy(0, 0, 0);
}

}  // namespace dist
