#include "distlab/train/text/other_kind.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/group/process_group.h"
#include "dist/nn/adam.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"

#include "distlab/train/text/text_schedule.h"

namespace distlab {

namespace fs = std::filesystem;
namespace nn = dist::nn;

namespace {

// The same on one rank.
struct Whole {
  nn::GPT model;
  nn::AdamW optimizer;
  explicit Whole(const OnMesh& run)
      : model(run.gpt), optimizer(nn::decay_groups(model.parameters()), text_adamw) {
    model.to(run.dtype);
  }
};

dist::Pieces pieces_of(const OnMesh& run) {
  dist::Pieces all = run.model.pieces(), more = run.model.pieces(run.optimizer);
  std::ranges::move(more, std::back_inserter(all));
  return all;
}

// All of a run without a mesh, as a mesh has it: in bf16, its parameters are the f32 master weights.
dist::Pieces as_on_mesh(nn::Module& model, nn::Optimizer& optimizer) {
  constexpr std::string_view of_optimizer = "optimizer.", master = "optimizer.master_param.";
  dist::Pieces all = dist::all_pieces_of(model, optimizer);
  const auto is_master = [&](const dist::Piece& piece) { return piece.name.starts_with(master); };
  if (std::ranges::none_of(all, is_master)) return all;
  std::erase_if(all, [&](const dist::Piece& piece) { return !piece.name.starts_with(of_optimizer); });
  for (dist::Piece& piece : all)
    if (is_master(piece)) piece.name.erase(0, master.size());
  return all;
}

// After what as_on_mesh() returns has been filled.
void round_masters(const nn::Optimizer& optimizer) {
  for (std::size_t i = 0; i < optimizer.parameters().size(); ++i)
    if (const auto* const weight = nn::find(optimizer.state_dict(), fmt::format("{}.master_param", i)))
      optimizer.parameters()[i]->value.copy_(weight->to(dist::DType::bf16));
}

// A folder for one save, in which nothing else may be.
class Parts {
 public:
  explicit Parts(fs::path path) : path_(std::move(path)) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(path_, none))
      if (const std::string name = entry.path().filename().string();
          !name.starts_with("save-") && name != "checkpoint.json")
        dist::fail(dist::Errc::resource, "{} is in the way, with \"{}\" in it; move it away", path_.string(),
                   name);
  }
  ~Parts() {
    std::error_code ignored;
    if (dist::get_rank() == 0) fs::remove_all(path_, ignored);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

void write(const fs::path& file, const fs::path& parts, const OnMesh& run, const RunSettings& settings,
           const nn::StateDict& more) {
  Whole whole(run);
  restore_from_folder(parts, whole.model, whole.optimizer);
  save_checkpoint(file, whole.model, whole.optimizer, settings, more);
}

}  // namespace

dist::Pieces run_pieces(const RunSettings& settings, const nn::StateDict& more) {
  dist::Pieces pieces;
  for (const auto& [name, value] : settings)
    pieces.push_back({"run." + name, dist::tensor<std::int64_t>({value}), {1}, {0}});
  for (const auto& [name, tensor] : more)
    pieces.push_back({"run." + name, tensor, tensor.shape(), dist::Shape(tensor.shape().size(), 0)});
  return pieces;
}

void save_as_folder(const fs::path& folder, nn::Module& model, nn::Optimizer& optimizer,
                    const dist::Pieces& run) {
  dist::Pieces all = as_on_mesh(model, optimizer);
  all.insert(all.end(), run.begin(), run.end());
  dist::save_sharded(folder, all);
}

void restore_from_folder(const fs::path& folder, nn::Module& model, nn::Optimizer& optimizer) {
  dist::load_sharded(folder, as_on_mesh(model, optimizer));
  round_masters(optimizer);
}

void save_as_file(const fs::path& file, const OnMesh& run, const RunSettings& settings,
                  const nn::StateDict& more) {
  const Parts parts(file.string() + ".parts");
  dist::save_sharded(parts.path(), pieces_of(run));
  std::string problem;
  if (dist::get_rank() == 0) {
    try {
      write(file, parts.path(), run, settings, more);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  dist::broadcast_object(problem, 0);
  if (!problem.empty()) dist::fail(dist::Errc::resource, "{}", problem);
}

void restore_from_file(const Checkpoint& checkpoint, const OnMesh& run) {
  Whole whole(run);
  checkpoint.restore(whole.model);
  checkpoint.restore(whole.optimizer);
  const dist::Pieces all = as_on_mesh(whole.model, whole.optimizer);
  for (const dist::Piece& piece : pieces_of(run)) {
    std::int64_t copied = 0;
    for (const dist::Piece& from : all)
      if (from.name == piece.name && from.whole == piece.whole) copied += dist::copy_common(from, piece);
    if (copied != piece.data.numel())
      dist::fail(dist::Errc::invalid_argument, "the checkpoint lacks \"{}\"; is it of another model?",
                 piece.name);
  }
}

}  // namespace distlab
