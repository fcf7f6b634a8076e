// How other programs name and lay out a GPT's parameters: a table of rules for each family of files. It is
// read in both directions, by foreign.h and export.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace distlab {

// One parameter. In names # stands for the number of a block. Several rules with the same name of ours: their
// rows one after another are our rows.
struct NameRule {
  std::string_view theirs, ours;  // without the prefix "transformer."
  // The sizes, as distlab lays them out: v vocab_size, c context, w width, q the rows of c_attn, k those of
  // all key heads, h the width inside the MLP.
  std::string_view shape;
  bool is_linear = false;  // Conv1D of Hugging Face's GPT-2 has it transposed: [in, out]
};

struct Family {
  std::string_view name;    // "nanoGPT"
  std::string_view prefix;  // of all names but that of the head; in files it may be missing
  std::string_view key;     // a file with this name is of the family
  std::span<const NameRule> rules;
  std::span<const std::string_view> skipped;  // buffers, which are computed from the sizes
  bool is_conv1d = false;
  bool is_llama = false;
};

std::span<const Family> families();

constexpr std::string_view head_name = "lm_head.weight", embedding_name = "wte.weight";

// A name in a file, without the family's prefix and what torch.compile and DistributedDataParallel put around
// names.
std::string bare_name(std::string name, const Family& family);
// The number of the block in `name`, or 0 if `pattern` has no #; nothing if the name does not match.
std::optional<std::int64_t> match(std::string_view pattern, std::string_view name);
// The name in a file, for a block, and that in our state_dict().
std::string their_name(const Family& family, const NameRule& rule, std::int64_t block);
std::string our_name(const NameRule& rule, std::int64_t block);
// "transformer.h.0.attn.c_attn.weight" of each family, for errors.
std::string names_of_families();

}  // namespace distlab
