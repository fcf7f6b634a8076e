#include "dist/parallel/checkpoint/pieces.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

#include "dist/core/fail.h"
#include "dist/mesh/placed.h"

namespace dist {

namespace {

Piece all_of(std::string name, const Tensor& t) {
  return {std::move(name), t, t.shape(), Shape(static_cast<std::size_t>(t.dim()), 0)};
}

// The elements of a box, as a view. Only the first axis is cut: parts that are divided apart are rows.
Tensor view_of(const Tensor& tensor, const LocalPart& box) {
  if (box.shape.empty() || box.shape == tensor.shape()) return tensor;
  return tensor.narrow(box.offset[0], box.shape[0]);
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

namespace {

// What a parameter of that name is called in a checkpoint.
std::string saved_name(const nn::Parameter& parameter, const std::string& name) {
  const Placed* const placed = placed_of(parameter);
  return placed && !placed->copy_of.empty() ? placed->copy_of : name;
}

// The boxes of a tensor that is divided as the parameter is.
void add_pieces(Pieces& pieces, const std::string& prefix, const std::string& name,
                const nn::Parameter& parameter, const Tensor& tensor) {
  const Placed* const placed = placed_of(parameter);
  if (!placed) {
    pieces.push_back(all_of(prefix + name, tensor));
    return;
  }
  for (const Placed::Box& box : placed->boxes())
    pieces.push_back(
        {prefix + saved_name(parameter, name), view_of(tensor, box.local), placed->whole, box.offset});
}

// What the optimizer's parameters are called. Those of a ZeroOptimizer are rows of the module's, and know it.
std::vector<std::string> names_of(const nn::Optimizer& optimizer, std::span<nn::Module* const> modules) {
  std::map<const nn::Parameter*, std::string> known;
  for (nn::Module* const module : modules)
    for (const auto& [name, parameter] : module->named_parameters()) known.emplace(parameter, name);
  std::vector<std::string> names;
  for (const nn::Parameter* const parameter : optimizer.parameters()) {
    const auto at = known.find(parameter);
    const std::string of_row = parameter->division ? parameter->name : "";
    names.push_back(at == known.end() ? of_row : at->second);
    if (names.back().empty())
      fail(Errc::invalid_argument, "pieces_of: parameter {} of the optimizer is not one of {}",
           names.size() - 1, modules.empty() ? "the modules" : modules.front()->str());
  }
  return names;
}

}  // namespace

Pieces pieces_of(nn::Module& module) {
  Pieces pieces;
  for (const auto& [name, parameter] : module.named_parameters()) {
    parameter->notify(nn::Parameter::Event::settle);
    add_pieces(pieces, "", name, *parameter, parameter->value);
  }
  for (const auto& [name, buffer] : module.named_buffers()) {
    pieces.push_back(all_of(name, buffer->value));
    pieces.back().may_differ = true;
  }
  return pieces;
}

Pieces gradient_pieces_of(nn::Module& module) {
  Pieces pieces;
  for (const auto& [name, parameter] : module.named_parameters())
    if (parameter->grad.is_defined()) add_pieces(pieces, "", name, *parameter, parameter->grad);
  return pieces;
}

// The optimizer calls the state of its parameter 3 "3.exp_avg", and how many steps it has taken "step.3".
Pieces pieces_of(nn::Optimizer& optimizer, std::span<nn::Module* const> modules) {
  const std::vector<std::string> names = names_of(optimizer, modules);
  constexpr std::string_view own_step = "step.";
  Pieces pieces;
  optimizer.make_state(true);
  for (const auto& [key, tensor] : optimizer.state_dict()) {
    const bool is_step = key.starts_with(own_step);
    std::size_t i = 0;
    const char* const end = key.data() + key.size();
    const auto [rest, error] = std::from_chars(key.data() + (is_step ? own_step.size() : 0), end, i);
    if (error != std::errc())
      pieces.push_back(all_of("optimizer." + key, tensor));
    else if (is_step) {
      pieces.push_back(
          all_of("optimizer.step." + saved_name(*optimizer.parameters()[i], names.at(i)), tensor));
      pieces.back().fallback = "optimizer.step";  // an older checkpoint, of parameters that were all trained
    } else
      add_pieces(pieces, "optimizer" + std::string(rest, end) + ".", names.at(i), *optimizer.parameters()[i],
                 tensor);
  }
  return pieces;
}

Pieces pieces_of(nn::Optimizer& optimizer, nn::Module& module) {
  nn::Module* const one = &module;
  return pieces_of(optimizer, std::span(&one, 1));
}

Pieces all_pieces_of(nn::Module& module, nn::Optimizer& optimizer) {
  Pieces all = pieces_of(module), state = pieces_of(optimizer, module);
  std::ranges::move(state, std::back_inserter(all));
  return all;
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
