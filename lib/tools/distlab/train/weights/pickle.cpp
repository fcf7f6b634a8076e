#include "distlab/train/weights/pickle.h"

#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "dist/core/fail.h"

namespace distlab {

void expect_no_pickle(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) return;
  std::array<char, 9> first{};
  std::ifstream(file, std::ios::binary).read(first.data(), first.size());
  const std::string_view begin(first.data(), first.size());
  // A safetensors file may begin with a pickle's two bytes: they are the length of its header, which follows.
  const bool is_safetensors = begin.substr(4) == std::string_view("\0\0\0\0{", 5);
  const bool is_pickle = begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
  if (is_safetensors || (!begin.starts_with("PK\x03\x04") && !is_pickle)) return;
  const std::string converted = std::filesystem::path(file).replace_extension(".safetensors").string();
  dist::fail(dist::Errc::invalid_argument,
             "{} is a file of torch.save(), which distlab does not read; convert it: python3 -c \"import "
             "torch, safetensors.torch as s; d = torch.load('{}', map_location='cpu'); d = d.get('model', "
             "d); s.save_file({{k: v.clone().contiguous() for k, v in d.items() if torch.is_tensor(v)}}, "
             "'{}')\"",
             file.string(), file.string(), converted);
}

}  // namespace distlab
