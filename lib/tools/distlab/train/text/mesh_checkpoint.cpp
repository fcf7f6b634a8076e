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

dist::Pieces MeshTrainer::run_state() const {
  return joined({{"run.steps_done", done_, {1}, {0}}}, run_pieces(settings(), {}));
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
  all.insert({{"steps_done", done_.item<std::int64_t>()},
              {"ranks", model_.data_ranks()},
              {"batch_size", batch_size_}});
  if (text_.vocabulary.is_numbers()) all.insert({numbers_setting, 1});
  return all;
}

void MeshTrainer::resume_from_file() {
  const Checkpoint checkpoint(options_.checkpoint);
  expect_setting(options_.checkpoint, "lora", lora_of(checkpoint), 0);
  checkpoint.expect(dtype_of(options_.text));
  expect_variant(options_.checkpoint, gpt_, [&](const std::string& name, std::int64_t usual) {
    return checkpoint.setting_or(name, usual);
  });
  RunSettings wanted = with_sizes(settings());
  wanted.erase("bf16");
  const std::string change = checkpoint.expect(wanted);
  restore_from_file(checkpoint, on_mesh());
  done_.data<std::int64_t>()[0] = checkpoint.setting("steps_done");
  if (!change.empty()) narrator_.say(change);
  say_resumed();
}

void MeshTrainer::say_resumed() {
  const auto done = done_.item<std::int64_t>();
  narrator_.say(fmt::format("continuing after step {}, from {}", done, options_.checkpoint.string()));
  if (options_.text.steps > 0 && done >= options_.text.steps)
    narrator_.say(fmt::format("step {} is done already; to train longer: --steps {}", options_.text.steps,
                              done + options_.text.eval_every));
}

void MeshTrainer::resume() {
  if (is_in_file_) return resume_from_file();
  if (options_.text.steps == 0 && !dist::has_sharded(options_.checkpoint))
    dist::fail(dist::Errc::invalid_argument,
               "{} has no checkpoint of a mesh; train with --checkpoint {} first",
               options_.checkpoint.string(), options_.checkpoint.string());
  if (!dist::has_sharded(options_.checkpoint)) {
    narrator_.say(fmt::format("{} has no checkpoint yet: training starts from the beginning",
                              options_.checkpoint.string()));
    return;
  }
  expect_variant(options_.checkpoint, gpt_, [this](const std::string& name, std::int64_t usual) {
    const dist::Pieces saved{{"run." + name, dist::tensor<std::int64_t>({usual}), {1}, {0}}};
    if (dist::has_sharded(options_.checkpoint, saved[0].name))
      dist::load_sharded(options_.checkpoint, saved, dist::ShardedCheckpointOptions{});
    return saved[0].data.item<std::int64_t>();
  });
  const dist::Pieces run = run_state();
  dist::Pieces saved = run;
  const auto bf16 = std::ranges::find(saved, "run.bf16", &dist::Piece::name);
  if (!dist::has_sharded(options_.checkpoint, bf16->name)) {  // saved when every run was in f32
    bf16->data.zero_();
    saved.erase(bf16);
  }
  dist::load_sharded(options_.checkpoint, saved, dist::ShardedCheckpointOptions{});
  for (std::size_t i = 1; const auto& [name, wanted] : settings())
    expect_setting(options_.checkpoint, name, run[i++].data.item<std::int64_t>(), wanted);
  dist::load_sharded(options_.checkpoint, state(), dist::ShardedCheckpointOptions{});
  say_resumed();
}

}  // namespace distlab
