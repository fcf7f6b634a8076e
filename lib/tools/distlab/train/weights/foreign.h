// The weights of other programs: a safetensors file with the state dict of a nanoGPT, a Hugging Face GPT-2 or
// a Hugging Face Llama (families.h) becomes a GPT's options and its state_dict().
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "dist/nn/gpt.h"
#include "dist/nn/state_dict.h"

#include "distlab/train/weights/config.h"

namespace distlab {

// What a state dict does not say; 0: not known.
struct ForeignHints {
  std::int64_t heads = 0;
  std::int64_t context = 0;  // of a Llama, which has no table of positions
  double norm_eps = 0, rotary_base = 0;
  std::optional<ForeignConfig> config = {};
};

struct ForeignModel {
  std::string family;  // "nanoGPT"
  dist::nn::GptOptions gpt;
  dist::nn::StateDict state;  // f32
  std::string about;          // "12 heads of 64 elements (assumed), ...": what the shapes do not say
};

// `dict` are the tensors of `file`, which errors name. Numbers in f16, bf16 and f64 become f32, prefixes of
// torch.compile and DistributedDataParallel and buffers are dropped. A head that is missing, or equal to the
// embedding, is tied. What a hint says wins over what is usual, and has to agree with the config. Throws
// Error{invalid_argument}, in one line that names the tensor, for a file of no family or of several, a tensor
// that is missing, superfluous, of another shape or not of floating point, and for heads that are not known
// or do not divide.
ForeignModel read_foreign(const std::filesystem::path& file, const dist::nn::StateDict& dict,
                          const ForeignHints& hints);

}  // namespace distlab
