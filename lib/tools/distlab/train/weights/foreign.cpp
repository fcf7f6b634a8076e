// Reader finds the family, gives each tensor its rule, reads the sizes from
// the shapes, checks that every parameter is there, and puts our parameters together.
#include "distlab/train/weights/foreign.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "dist/core/axes.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"

#include "distlab/train/weights/families.h"

namespace distlab {
namespace {

namespace nn = dist::nn;
using dist::Tensor;

class Reader {
 public:
  Reader(const std::filesystem::path& file, const nn::StateDict& dict)
      : file_(file), family_(family_of(dict)) {
    for (const auto& named : dict) place(named);
    for (const NameRule& rule : family_.rules)
      if (const auto found = found_.find({&rule, 0}); found != found_.end())
        for (std::size_t axis = 0; axis < rule.shape.size(); ++axis) learn(rule, found->second, axis);
    for (std::int64_t block = 0; block < layers_; ++block)
      for (const NameRule& rule : family_.rules)
        if (block == 0 || is_of_block(rule)) check(rule, block);
  }

  ForeignModel model(const ForeignHints& hints) {
    ForeignModel model{.family = std::string(family_.name), .gpt = options(hints), .state = {}, .about = {}};
    add_unseen(model, hints);
    for (std::int64_t block = 0; block < layers_; ++block)
      for (const NameRule& rule : family_.rules)
        if (block == 0 || is_of_block(rule)) add(model.state, rule, block);
    return model;
  }

 private:
  struct Found {
    std::string name;  // as in the file
    Tensor tensor;     // as distlab lays it out
  };
  struct Unseen {
    std::string_view option, name;
  };
  using Key = std::pair<const NameRule*, std::int64_t>;  // a rule, and a block

  static bool is_of_block(const NameRule& rule) { return rule.theirs.find('#') != rule.theirs.npos; }

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> why, Args&&... args) const {
    dist::fail(dist::Errc::invalid_argument, "{}: {}", file_.string(),
               fmt::format(why, std::forward<Args>(args)...));
  }

  const Family& family_of(const nn::StateDict& dict) const {
    for (const Family& family : families())
      for (const auto& [name, tensor] : dict) {
        if (bare_name(name, family) != family.key || tensor.dim() != 2) continue;
        if (!family.is_conv1d || tensor.size(1) > tensor.size(0)) return family;
      }
    constexpr std::size_t shown = 3;
    std::vector<std::string> names;
    for (const auto& named : dict)
      if (names.size() < shown) names.push_back(fmt::format("\"{}\"", named.name));
    refuse("its {} are not those of a GPT that distlab knows: {}; expected {}, or a checkpoint of distlab",
           dist::counted(dict.size(), "tensor"),
           dict.empty() ? "it has none" : fmt::format("the first names are {}", fmt::join(names, ", ")),
           names_of_families());
  }

  void place(const nn::NamedTensor& named) {
    const std::string name = bare_name(named.name, family_);
    for (const std::string_view pattern : family_.skipped)
      if (match(pattern, name)) return;
    for (const NameRule& rule : family_.rules) {
      const auto block = match(rule.theirs, name);
      if (!block) continue;
      if (!dist::is_floating_point(named.tensor.dtype()))
        refuse("\"{}\" is in {}; distlab reads f32, f16, bf16 and f64", named.name,
               dist::name(named.tensor.dtype()));
      if (named.tensor.dim() != static_cast<std::int64_t>(rule.shape.size()))
        refuse("\"{}\" is {}, but a {} has {} there", named.name, dist::to_string(named.tensor.shape()),
               family_.name, dist::counted(rule.shape.size(), "axis", "axes"));
      const Tensor tensor = named.tensor.to(dist::DType::f32);
      const Found found{named.name,
                        family_.is_conv1d && rule.is_linear ? dist::transpose(tensor, 0, 1) : tensor};
      const auto [at, is_new] = found_.try_emplace({&rule, *block}, found);
      if (!is_new) refuse("\"{}\" and \"{}\" are the same parameter", at->second.name, named.name);
      layers_ = std::max(layers_, *block + 1);
      has_bias_ = has_bias_ || rule.theirs.ends_with(".bias");
      return;
    }
    refuse("\"{}\" is not a parameter of a {}, which the other names are of", named.name, family_.name);
  }

  // The first shape with a letter says its size.
  void learn(const NameRule& rule, const Found& found, std::size_t axis) {
    if (found.tensor.numel() == 0)
      refuse("\"{}\" is {}, which has no elements", found.name, dist::to_string(found.tensor.shape()));
    sizes_.try_emplace(rule.shape[axis], found.tensor.shape()[axis]);
  }

  const Found* find(const NameRule& rule, std::int64_t block) const {
    const auto found = found_.find({&rule, block});
    return found == found_.end() ? nullptr : &found->second;
  }
  const Found* find(std::string_view ours) const {
    for (const NameRule& rule : family_.rules)
      if (rule.ours == ours) return find(rule, 0);
    return nullptr;
  }

  // The head may be missing, or the embedding that it is tied to; biases are all there, or none is.
  void check(const NameRule& rule, std::int64_t block) const {
    const Found* const found = find(rule, block);
    if (!found) {
      if (rule.ours == head_name && find(embedding_name)) return;
      if (rule.ours == embedding_name && find(head_name)) return;
      if (rule.theirs.ends_with(".bias") && !has_bias_) return;
      refuse("it lacks \"{}\", which a {} with {}{} has; is it one file of several?",
             their_name(family_, rule, block), family_.name, dist::counted(layers_, "block"),
             has_bias_ ? " and biases" : "");
    }
    dist::Shape expected;
    for (const char letter : rule.shape)
      expected.push_back(letter == 'q' ? 3 * sizes_.at('w') : sizes_.at(letter));
    if (found->tensor.shape() == expected) return;
    const auto in_file = [&](dist::Shape shape) {
      if (family_.is_conv1d && rule.is_linear) std::swap(shape[0], shape[1]);
      return dist::to_string(shape);
    };
    refuse("\"{}\" is {}, but the other shapes of this {} make it {}", found->name,
           in_file(found->tensor.shape()), family_.name, in_file(expected));
  }

  bool is_tied() const {
    const Found *const head = find(head_name), *const embedding = find(embedding_name);
    return !head || !embedding || equal(head->tensor, embedding->tensor);
  }

  nn::GptOptions options(const ForeignHints& hints) const {
    const bool is_llama = family_.is_llama;
    nn::GptOptions gpt{.vocab_size = sizes_.at('v'),
                       .context = is_llama ? hints.context : sizes_.at('c'),
                       .layers = layers_,
                       .width = sizes_.at('w'),
                       .bias = has_bias_,
                       .tied = is_tied()};
    gpt.rms_norm = gpt.gated = gpt.rotary = is_llama;
    gpt.gelu_tanh = family_.is_conv1d;
    if (is_llama || sizes_.at('h') != 4 * gpt.width) gpt.hidden = sizes_.at('h');
    return gpt;
  }

  // What the shapes do not say, and where it is from: an option, config.json, or what is usual.
  template <class T>
  T choose(ForeignModel& model, T given, T configured, T usual, const Unseen& what) const {
    if (given != 0 && configured != 0 && given != configured)
      refuse("{} is {}, but config.json beside it says {}; leave the option out", what.option, given,
             configured);
    const T chosen = given != 0 ? given : configured != 0 ? configured : usual;
    if (chosen != 0)
      model.about +=
          fmt::format("{}{} {}{}", model.about.empty() ? "" : ", ", what.name, chosen,
                      given != 0        ? ""
                      : configured != 0 ? " (config.json)"
                                        : fmt::format(" (assumed; {} says otherwise)", what.option));
    return chosen;
  }

  void add_unseen(ForeignModel& model, const ForeignHints& hints) const {
    constexpr std::int64_t usual_size = 64;  // of GPT-2's heads, in all its sizes
    auto& gpt = model.gpt;
    ForeignConfig config;
    config.is_llama = family_.is_llama;
    if (hints.config) config = *hints.config;
    if (config.is_llama != family_.is_llama)
      refuse("its names are those of a {}, but config.json beside it is of another model", family_.name);
    const bool has_usual = family_.is_conv1d && gpt.width % usual_size == 0;
    gpt.heads = choose<std::int64_t>(model, hints.heads, config.heads, has_usual ? gpt.width / usual_size : 0,
                                     {"--heads", "heads"});
    gpt.norm_eps =
        choose(model, hints.norm_eps, config.norm_eps, gpt.norm_eps, {"--norm-eps", "epsilon of norms"});
    if (gpt.rotary)
      gpt.rotary_base = choose(model, hints.rotary_base, config.rotary_base, gpt.rotary_base,
                               {"--rotary-base", "base of rotary positions"});
    if (!gpt.gated) gpt.gelu_tanh = config.gelu_tanh.value_or(gpt.gelu_tanh);
    check_heads(gpt);
  }

  // Also sets kv_heads.
  void check_heads(nn::GptOptions& gpt) const {
    if (gpt.heads == 0)
      refuse("how many heads a {} has cannot be seen in its shapes; add --heads N", family_.name);
    if (gpt.width % gpt.heads != 0)
      refuse("--heads {} does not divide its width {}; name the number of heads that it was trained with",
             gpt.heads, gpt.width);
    if (!family_.is_llama) return;
    const std::int64_t size = gpt.width / gpt.heads, rows = sizes_.at('k'), kv_heads = rows / size;
    if (size % 2 != 0 || kv_heads == 0 || rows % size != 0 || gpt.heads % kv_heads != 0)
      refuse(
          "--heads {} makes heads of {} elements, which do not fit its keys of {} rows; name the number "
          "of heads that it was trained with",
          gpt.heads, size, rows);
    gpt.kv_heads = kv_heads == gpt.heads ? 0 : kv_heads;
  }

  // A parameter of several rules is complete with the last of them.
  void add(nn::StateDict& state, const NameRule& rule, std::int64_t block) {
    const Found* found = find(rule, block);
    if (!found && rule.ours == embedding_name) found = find(head_name);
    if (!found && rule.ours == head_name) found = find(embedding_name);
    if (!found) return;
    std::string name = our_name(rule, block);
    if (state.empty() || state.back().name != name)
      state.push_back({std::move(name), found->tensor});
    else
      state.back().tensor = dist::cat({state.back().tensor, found->tensor}, 0);
  }

  const std::filesystem::path file_;
  std::map<Key, Found> found_;
  std::map<char, std::int64_t> sizes_;
  std::int64_t layers_ = 0;
  bool has_bias_ = false;
  const Family& family_;
};

}  // namespace

ForeignModel read_foreign(const std::filesystem::path& file, const nn::StateDict& dict,
                          const ForeignHints& hints) {
  return Reader(file, dict).model(hints);
}

}  // namespace distlab
