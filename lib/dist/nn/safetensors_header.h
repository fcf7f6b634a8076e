// The header of a safetensors file: which tensor is where in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/nn/state_dict.h"

namespace dist::nn {

struct SafetensorsHeader {
  struct Entry {
    std::string name;
    DType dtype;
    Shape shape;
    std::uint64_t begin, end;  // bytes, from the end of the header
  };
  std::vector<Entry> entries;           // in the order of the file
  std::optional<std::string> checksum;  // as it is written
};

// The padded text, with zeros for the checksum. Throws the same errors as save_safetensors().
std::string describe_safetensors(const StateDict& dict, std::string_view format = "distlab");
// Replaces the zeros by a checksum, or the checksum by zeros; both have eight digits.
void replace_checksum(std::string& header, std::string_view before, std::string_view after);
inline constexpr std::string_view no_checksum = "00000000";

// For a file with `data_bytes` bytes after the header. Throws Error{invalid_argument}, whose text begins with
// `path`.
SafetensorsHeader parse_safetensors(const std::string& path, std::string_view text, std::uint64_t data_bytes);

}  // namespace dist::nn
