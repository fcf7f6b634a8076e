// The checkpoints of a run on a mesh: what it saves, and how it continues.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"

#include "distlab/train/text/mesh_trainer.h"
#include "distlab/train/text/other_kind.h"
#include "distlab/train/text/text_model.h"

namespace distlab {
namespace {

dist::Pieces joined(dist::Pieces all, const dist::Pieces& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

RunSettings MeshTrainer::settings() const {
  RunSettings all = settings_of(gpt_);
  all.insert({{"text", text_.checksum},
              {"seed", static_cast<std::int64_t>(options_.seed)},
              {"bf16", dtype_of(options_.text) == dist::DType::bf16 ? 1 : 0}});
  return all;
}

dist::Pieces MeshTrainer::state() { return joined(model_.pieces(), model_.pieces(optimizer_)); }

OnMesh MeshTrainer::on_mesh() { return {model_, optimizer_, gpt_, dtype_of(options_.text)}; }

void MeshTrainer::save() {
  const auto more = state_of(text_.vocabulary);
  RunSettings all = with_sizes(settings());
  if (!is_in_file_) return dist::save_sharded(options_.checkpoint, joined(state(), run_pieces(all, more)));
  all.erase("bf16");
  save_as_file(options_.checkpoint, on_mesh(), all, more);
}

// Beside those that a resumed run must have: what a run without a mesh says, too.
RunSettings MeshTrainer::with_sizes(RunSettings all) const {
  all.insert({{"steps_done", done_}, {"ranks", model_.data_ranks()}, {"batch_size", batch_size_}});
  if (text_.vocabulary.is_numbers()) all.insert({numbers_setting, 1});
  return all;
}

void MeshTrainer::say_resumed() {
  narrator_.say(fmt::format("continuing after step {}, from {}", done_, options_.checkpoint.string()));
  if (options_.text.steps > 0 && done_ >= options_.text.steps)
    narrator_.say(fmt::format("step {} is done already; to train longer: --steps {}", options_.text.steps,
                              done_ + options_.text.eval_every));
}

void MeshTrainer::resume() {
  const auto& place = options_.checkpoint;
  if (!is_in_file_ && !dist::has_sharded(place)) {
    if (options_.text.steps == 0)
      dist::fail(dist::Errc::invalid_argument,
                 "{} has no checkpoint of a mesh; train with --checkpoint {} first", place.string(),
                 place.string());
    narrator_.say(
        fmt::format("{} has no checkpoint yet: training starts from the beginning", place.string()));
    return;
  }
  const Checkpoint checkpoint = is_in_file_ ? Checkpoint(place) : Checkpoint::settings_in(place);
  expect_setting(place, "lora", lora_of(checkpoint), 0);
  checkpoint.expect(dtype_of(options_.text));
  expect_variant(place, gpt_, [&](const std::string& name, std::int64_t usual) {
    return checkpoint.setting_or(name, usual);
  });
  RunSettings wanted = with_sizes(settings());
  wanted.erase("bf16");  // the dtype
  const std::string change = checkpoint.expect(wanted);
  if (is_in_file_)
    restore_from_file(checkpoint, on_mesh());
  else
    dist::load_sharded(place, state(), dist::ShardedCheckpointOptions{});
  done_ = checkpoint.setting("steps_done");
  if (!change.empty()) narrator_.say(change);
  say_resumed();
}

}  // namespace distlab
