#include "distlab/train/text/whole_gpt.h"

#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/group/process_group.h"

#include "distlab/train/text/text_model.h"

namespace distlab {

// Parameter by parameter: each rank fills its pieces into a tensor that is -inf elsewhere, so that the
// largest element is the one that some rank has.
std::unique_ptr<dist::nn::GPT> gather_whole_gpt(dist::HybridGpt& model, const dist::nn::GptOptions& gpt) {
  std::unique_ptr<dist::nn::GPT> whole;
  std::string list;  // "NAME ELEMENTS", line by line
  if (dist::get_rank() == 0) {
    whole = std::make_unique<dist::nn::GPT>(gpt);
    for (const auto& [name, parameter] : whole->named_parameters())
      list += fmt::format("{} {}\n", name, parameter->value.numel());
  }
  dist::broadcast_object(list, 0);
  const dist::Pieces mine = model.pieces();
  std::istringstream lines(list);
  std::int64_t elements = 0;
  for (std::string name; lines >> name >> elements;) {
    dist::Tensor values = dist::full({elements}, -std::numeric_limits<double>::infinity());
    for (const dist::Piece& piece : mine)
      if (piece.name == name)
        (void)dist::copy_common(
            piece, {name, values.view(piece.whole), piece.whole, dist::Shape(piece.whole.size(), 0)});
    dist::reduce(values, 0, dist::ReduceOp::max);
    if (!whole) continue;
    for (const auto& named : whole->named_parameters())
      if (named.name == name) named.parameter->value.copy_(values.view(named.parameter->value.shape()));
  }
  return whole;
}

std::string begin_mesh_with_file(dist::HybridGpt& model, const TrainOptions& options) {
  std::string about;
  const auto& file = options.text.from;
  if (file.empty()) return about;
  const dist::nn::StateDict whole = checkpoint_of(file, options, &about).model();
  for (const dist::Piece& piece : model.pieces()) {
    const dist::Tensor* const values = dist::nn::find(whole, piece.name);
    if (!values || values->shape() != piece.whole)
      dist::fail(dist::Errc::invalid_argument, "{} has no \"{}\" of the shape {}; is it of another model?",
                 file.string(), piece.name, dist::to_string(piece.whole));
    const dist::Shape origin(piece.whole.size(), 0);
    (void)dist::copy_common({piece.name, values->to(piece.data.dtype()), piece.whole, origin}, piece);
  }
  return about;
}

}  // namespace distlab
