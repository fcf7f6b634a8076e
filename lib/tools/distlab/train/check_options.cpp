#include "distlab/train/check_options.h"

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/group/process_group.h"
#include "dist/nn/gpt.h"

#include "distlab/train/datasets.h"
#include "distlab/train/models.h"
#include "distlab/train/scheme.h"
#include "distlab/train/text/mesh_trainer.h"
#include "distlab/train/text/text_data.h"
#include "distlab/train/text/text_model.h"
#include "distlab/train/weights/export.h"

namespace distlab {

using dist::Errc, dist::fail;

void check(const TrainOptions& options) {
  const auto& model = model_named(options.model);
  for (const auto& [option, of] : options.given) {
    if (of != options.model)
      fail(Errc::invalid_argument, "{} is an option of --model {}, not of --model {}", option, of,
           options.model);
  }
  const auto& scheme = scheme_named(options.scheme);
  if (scheme.workers == Workers::one && options.ranks > 1)
    fail(Errc::invalid_argument,
         "--scheme {} is for one rank, not for {}; for several ranks choose --scheme ddp", scheme.name,
         options.ranks);
  if (options.lr && (!std::isfinite(*options.lr) || *options.lr <= 0))
    fail(Errc::invalid_argument, "--lr is {}; it must be a finite number greater than 0", *options.lr);
  if (options.resume && options.checkpoint.empty())
    fail(Errc::invalid_argument, "--resume needs a file to continue from; add --checkpoint FILE");
  model.check(options);
}

void check_images(const TrainOptions& options) {
  if (!std::isfinite(options.momentum) || options.momentum < 0)
    fail(Errc::invalid_argument, "--momentum is {}; it must be a finite number, 0 or greater",
         options.momentum);
  if (!options.data.empty() && options.data != "digits" && options.data != "mnist")
    fail(Errc::invalid_argument, "--data is \"{}\"; choose digits or mnist", options.data);
  if (options.data != "mnist" && !options.folder.empty())
    fail(Errc::invalid_argument, "--dir is the folder of MNIST; add --data mnist");
  expect_files(options);
}

namespace {

void check_sizes(const TextOptions& text) {
  if (text.heads < 1 || text.width % text.heads != 0)
    fail(Errc::invalid_argument, "--heads {} does not divide --width {}; choose a divisor", text.heads,
         text.width);
  if (text.kv_heads > 0 && text.heads % text.kv_heads != 0)
    fail(Errc::invalid_argument, "--kv-heads {} does not divide --heads {}; choose a divisor", text.kv_heads,
         text.heads);
  if (text.rotary && text.width / text.heads % 2 != 0)
    fail(Errc::invalid_argument,
         "--rotary rotates pairs, but --heads {} of --width {} have {} elements; choose others", text.heads,
         text.width, text.width / text.heads);
  // A checkpoint has whole numbers: the base itself, and the inverse of the epsilon.
  const auto is_whole = [](double value) { return std::abs(value - std::round(value)) < 1e-6 * value; };
  if (!(text.norm_eps > 0 && text.norm_eps < 1 && is_whole(1 / text.norm_eps)))
    fail(Errc::invalid_argument, "--norm-eps is {}; it must be 1 divided by a whole number, as 1e-5 is",
         text.norm_eps);
  if (!(text.rotary_base >= 1 && text.rotary_base < 1e15 && is_whole(text.rotary_base)))
    fail(Errc::invalid_argument, "--rotary-base is {}; it must be a whole number", text.rotary_base);
  if (text.gated && text.gelu_tanh)
    fail(Errc::invalid_argument, "--gated has SiLU instead of GELU; leave --gelu-tanh out");
}

// "a", "./a" and "b/../a" are one path, of a file that may not exist yet.
std::filesystem::path one_path(const std::filesystem::path& file) {
  std::error_code unknown;
  const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(file), unknown);
  return unknown ? std::filesystem::absolute(file).lexically_normal() : path;
}

// --checkpoint, --from and --export, for a GPT.
void check_files(const TrainOptions& options) {
  const auto& text = options.text;
  const bool has_model = !options.checkpoint.empty() || !text.from.empty();
  const bool is_used = text.sample || !text.export_to.empty();
  if (text.steps == 0 && (!has_model || !is_used))
    fail(Errc::invalid_argument,
         "--steps 0 only samples and exports; add --checkpoint FILE and --sample PROMPT, or --from FILE and "
         "--export FILE");
  if (text.steps == 0 && !text.mesh.empty() && !text.from.empty())
    fail(Errc::invalid_argument, "--steps 0 reads --from on one rank; leave out --mesh");
  if (text.export_to.empty()) return;
  for (const auto& [name, file] :
       {std::pair{"--checkpoint", options.checkpoint}, std::pair{"--from", text.from},
        std::pair{"--data", std::filesystem::path(options.data)}, std::pair{"--log", options.log}})
    if (std::error_code none; !file.empty() && (one_path(file) == one_path(text.export_to) ||
                                                std::filesystem::equivalent(file, text.export_to, none)))
      fail(Errc::invalid_argument,
           "--export and {} name the same file, {}, which would be lost; name another", name,
           text.export_to.string());
  if (text.steps > 0) check_export(gpt_options(text, 1));
}

}  // namespace

// The text is loaded here for its errors alone; the ranks load it again.
void check_text(const TrainOptions& given) {
  if (!given.text.mesh.empty() && given.text.lora > 0)
    fail(Errc::invalid_argument, "--lora needs --scheme ddp or single; leave out --mesh");
  if (!given.text.simulate.empty() && !given.text.from.empty())
    fail(Errc::invalid_argument, "--simulate needs no weights; leave out --from, and name the sizes");
  const bool has_none = given.text.steps == 0 && given.text.from.empty();  // --checkpoint has the model
  const TrainOptions options = has_none ? given : with_model_of_file(given);
  const auto& text = options.text;
  if (options.scheme != "ddp" && options.scheme != "single")
    fail(Errc::invalid_argument, "--scheme {} is for the ConvNet; with --model gpt choose ddp or single",
         options.scheme);
  if (text.dropout < 0 || text.dropout >= 1)
    fail(Errc::invalid_argument, "--dropout is {}; it must be 0 or greater and less than 1", text.dropout);
  if (!std::isfinite(text.temperature))
    fail(Errc::invalid_argument, "--temperature is {}; it must be a finite number", text.temperature);
  check_sizes(text);
  if (text.sample && text.sample->empty())
    fail(Errc::invalid_argument, "--sample needs a prompt of at least one character");
  if (text.mesh.empty() && (text.verify || !text.simulate.empty() || text.recompute ||
                            text.sequence_parallel || text.micro_batches > 1 || text.chunks > 1))
    fail(Errc::invalid_argument,
         "--verify, --simulate, --recompute, --sequence-parallel, --micro-batches and --chunks need --mesh");
  if (!text.mesh.empty()) check_mesh(options);
  check_files(options);
  if (text.steps == 0 && text.mesh.empty()) return;
  const auto loaded = load_text(options);
  if (text.sample) loaded.vocabulary.encode(*text.sample, "the prompt");
}

void expect_same_options(const TrainOptions& options) {
  const auto& text = options.text;
  const auto all = dist::all_gather_object(fmt::format(
      "--model {}\n--scheme {}\n--epochs {}\n--batch-size {}\n--data \"{}\"\n--samples {}\n--test-samples "
      "{}\n"
      "--lr {}\n--momentum {}\n--seed {}\n--resume {}\n--layers {}\n--heads {}\n--width {}\n--context {}\n"
      "--dropout {}\n--tied {}\n--tokens {}\n--steps {}\n--decay-steps {}\n--eval-every {}\n--mesh \"{}\"\n"
      "--schedule {}\n--micro-batches {}\n--chunks {}\n--sequence-parallel {}\n--recompute {}\n--verify {}\n"
      "--plot {}\n--checkpoint {}\n--sample {}\n--dtype {}\n--lora {}\n--from {}\n--export {}\n"
      "--kv-heads {}\n--hidden {}\n--bias {}\n--rms-norm {}\n--gated {}\n--rotary {}\n--gelu-tanh {}\n"
      "--norm-eps {}\n--rotary-base {}\n--peak-flops \"{}\"\n",
      options.model, options.scheme, options.epochs, options.batch_size.value_or(0), options.data,
      options.samples, options.test_samples, options.lr.value_or(0), options.momentum, options.seed,
      options.resume, text.layers, text.heads, text.width, text.context, text.dropout, text.tied, text.tokens,
      text.steps, text.decay_steps, text.eval_every, text.mesh, text.schedule, text.micro_batches,
      text.chunks, text.sequence_parallel, text.recompute, text.verify, !options.plot.empty(),
      !options.checkpoint.empty(), text.sample.has_value(), text.dtype, text.lora, !text.from.empty(),
      !text.export_to.empty(), text.kv_heads, text.hidden, text.bias, text.rms_norm, text.gated, text.rotary,
      text.gelu_tanh, text.norm_eps, text.rotary_base, options.peak_flops));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    std::istringstream first(all.front()), other(all[rank]);
    for (std::string a, b; std::getline(first, a) && std::getline(other, b);)
      if (a != b)
        fail(Errc::mismatch, "rank 0 was started with {}, rank {} with {}; give all ranks the same options",
             a, rank, b);
  }
}

}  // namespace distlab
