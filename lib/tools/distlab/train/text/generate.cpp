#include "distlab/train/text/generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "dist/data/utf8.h"

#include "distlab/results/text.h"
#include "distlab/train/checkpoint.h"
#include "distlab/train/text/text_data.h"
#include "distlab/train/text/text_model.h"
#include "distlab/train/weights/export.h"

namespace distlab {

namespace data = dist::data;
namespace nn = dist::nn;

data::Token draw_token(std::span<const float> logits, const Sampling& sampling, double random) {
  std::vector<data::Token> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](data::Token token) { return double{logits[static_cast<std::size_t>(token)]}; };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return logit(a) > logit(b); });
  if (sampling.temperature == 0) return order.front();
  if (sampling.top_k > 0 && static_cast<std::size_t>(sampling.top_k) < order.size())
    order.resize(static_cast<std::size_t>(sampling.top_k));
  std::vector<double> sums;  // of probabilities, not yet divided by their total
  for (const auto token : order)
    sums.push_back(std::exp((logit(token) - logit(order.front())) / sampling.temperature) +
                   (sums.empty() ? 0 : sums.back()));
  const auto drawn = std::ranges::upper_bound(sums, random * sums.back()) - sums.begin();
  return order[std::min(static_cast<std::size_t>(drawn), order.size() - 1)];
}

std::vector<data::Token> generate(nn::GPT& model, std::vector<data::Token> tokens, const Sampling& sampling,
                                  dist::Device device) {
  model.eval();
  std::mt19937_64 random(sampling.seed);
  const auto context = static_cast<std::size_t>(model.options().context);
  for (std::int64_t i = 0; i < sampling.length; ++i) {
    const auto last = std::span(tokens).last(std::min(tokens.size(), context));
    const auto seen = static_cast<std::int64_t>(last.size());
    const std::vector<std::int64_t> input(last.begin(), last.end());
    const auto logits = model.forward(dist::tensor(std::span(input), dist::cpu).view({1, seen}).to(device));
    model.forget_forward();
    const auto next = logits[0][seen - 1].to(dist::cpu).to_vector<float>();
    tokens.push_back(draw_token(next, sampling, static_cast<double>(random() >> 11) * 0x1p-53));
  }
  return tokens;
}

namespace {

// Bytes that are not UTF-8, as tokens that are bytes may be, become \xNN, and so does what a terminal would
// obey.
std::string printable(std::string_view bytes) {
  std::string text;
  for (std::size_t length = 0; !bytes.empty(); bytes.remove_prefix(std::max<std::size_t>(length, 1))) {
    length = data::utf8_detail::first_of(bytes).length;
    text += length > 0 ? std::string(bytes.substr(0, length))
                       : fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
  }
  return clean(text);
}

}  // namespace

std::string sample_text(nn::GPT& model, const data::Vocabulary& vocabulary, const TrainOptions& options,
                        dist::Device device) {
  const Sampling sampling{.length = options.text.sample_length,
                          .temperature = options.text.temperature,
                          .top_k = options.text.top_k,
                          .seed = options.seed};
  return printable(vocabulary.decode(
      generate(model, vocabulary.encode(*options.text.sample, "the prompt"), sampling, device)));
}

std::string use_without_training(const TrainOptions& options) {
  const auto& file = options.text.from.empty() ? options.checkpoint : options.text.from;
  std::string said;
  const Checkpoint checkpoint = checkpoint_of(file, options, &said);
  const nn::GptOptions gpt = gpt_options(checkpoint);
  TrainOptions of_file = with_model_of_file(options);
  of_file.text.vocab_size = gpt.vocab_size;
  std::optional<data::Vocabulary> vocabulary;
  if (options.text.sample)
    vocabulary = has_vocabulary(checkpoint)     ? vocabulary_of(checkpoint)
                 : options.text.tokens == "u16" ? data::Vocabulary::of_numbers(gpt.vocab_size)
                                                : load_text(of_file).vocabulary;
  if (!options.text.export_to.empty()) check_export(gpt);
  nn::GPT model(gpt);
  model.to(checkpoint.dtype());
  add_text_lora(model, lora_of(checkpoint));
  checkpoint.restore(model);
  const auto say = [&said](const std::string& line) { said += (said.empty() ? "" : "\n") + line; };
  if (vocabulary) say(sample_text(model, *vocabulary, options, dist::cpu));
  if (!options.text.export_to.empty()) say(export_weights(options.text.export_to, model));
  return said;
}

}  // namespace distlab
