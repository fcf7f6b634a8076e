// What --mesh and the options beside it mean, and which of them make no sense together.
#include "dist/core/counted.h"
#include "dist/core/fail.h"

#include "distlab/train/text/mesh_trainer.h"
#include "distlab/train/text/text_model.h"
#include "distlab/train/text/text_schedule.h"

namespace distlab {

dist::HybridOptions hybrid_options(const TextOptions& text) {
  return {.shape = dist::parse_hybrid_shape(text.mesh),
          .micro_batches = static_cast<int>(text.micro_batches),
          .schedule = dist::pipeline::kind_named(text.schedule),
          .chunks = static_cast<int>(text.chunks),
          .sequence_parallel = text.sequence_parallel,
          .recompute = text.recompute,
          .ignore_index = -100};
}

int ranks_of_mesh(const TrainOptions& options) { return dist::parse_hybrid_shape(options.text.mesh).ranks(); }

void check_mesh(const TrainOptions& options) {
  using dist::Errc, dist::fail;
  const auto& text = options.text;
  const dist::HybridShape shape = dist::parse_hybrid_shape(text.mesh);
  if (options.ranks > 0 && options.ranks != shape.ranks())
    fail(Errc::invalid_argument, "--mesh {} has {}, --nproc says {}; leave --nproc out", text.mesh,
         dist::counted(shape.ranks(), "rank"), options.ranks);
  if (options.device != "cpu") fail(Errc::invalid_argument, "--mesh trains on the CPU; leave --device out");
  if (text.dtype != "f32" && text.verify)
    fail(Errc::invalid_argument, "--verify compares with one rank in f64; leave --dtype {} out", text.dtype);
  if (text.dtype != "f32" && !text.simulate.empty())
    fail(Errc::invalid_argument,
         "--simulate only knows how fast machines compute in f32; leave --dtype {} out", text.dtype);
  if (text.verify && options.resume)
    fail(Errc::invalid_argument, "--verify compares the first step of a new run; leave --resume out");
  if (text.verify && text.sample)
    fail(Errc::invalid_argument,
         "--sample needs a trained model, --verify trains none; leave one of them out");
  if (!text.simulate.empty() && (text.verify || text.sample || !options.checkpoint.empty()))
    fail(Errc::invalid_argument, "--simulate trains nothing; leave out --verify, --sample and --checkpoint");
  if (!text.export_to.empty() && (text.verify || !text.simulate.empty()))
    fail(Errc::invalid_argument, "--export needs a trained model, and {} trains none; leave one of them out",
         text.verify ? "--verify" : "--simulate");
  if (!options.plot.empty() && text.verify)
    fail(Errc::invalid_argument, "--plot draws a training step, --verify trains none; leave one of them out");
  if (text.chunks > 1 && text.schedule != "interleaved")
    fail(Errc::invalid_argument, "--chunks {} needs --schedule interleaved", text.chunks);
  if (options.batch_size.value_or(default_text_batch) < text.micro_batches)
    fail(Errc::invalid_argument, "--micro-batches {} are more than the {} of a batch", text.micro_batches,
         dist::counted(options.batch_size.value_or(default_text_batch), "block"));
  if (constexpr int most = 1024; text.simulate.empty() && shape.ranks() > most)
    fail(Errc::invalid_argument, "--mesh {} has {} ranks; at most {} can be started", text.mesh,
         shape.ranks(), most);
  auto gpt = gpt_options(text, 1);
  if (gpt.kv_heads == 0) gpt.kv_heads = gpt.heads;
  dist::check_hybrid(shape, gpt, shape.ranks(), static_cast<int>(text.chunks), text.sequence_parallel);
}

}  // namespace distlab
