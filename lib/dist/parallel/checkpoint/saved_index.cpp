#include "dist/parallel/checkpoint/saved_index.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "dist/core/fail.h"
#include "dist/core/json.h"

namespace dist {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file) {
  fail(Errc::invalid_argument, "{} is damaged; use the checkpoint before it", file.string());
}

// What `read` makes of the file's contents. A value that is missing or of another type is damage.
template <class Read>
auto read_json(const fs::path& file, const Read& read) {
  std::ifstream in(file);
  if (!in)
    fail(Errc::invalid_argument, "{} cannot be read: is \"{}\" the folder of a sharded checkpoint?",
         file.string(), file.parent_path().string());
  try {
    return read(parse_json(std::string(std::istreambuf_iterator<char>(in), {})));
  } catch (const Json::exception&) {
    refuse(file);
  }
}

bool is_inside(const SavedPiece& piece, const Shape& whole) {
  if (piece.offset.size() != whole.size() || piece.shape.size() != whole.size()) return false;
  for (std::size_t k = 0; k < whole.size(); ++k)
    if (piece.offset[k] < 0 || piece.shape[k] < 0 || piece.offset[k] > whole[k] ||
        piece.shape[k] > whole[k] - piece.offset[k])
      return false;
  return piece.file == fs::path(piece.file).filename();
}

}  // namespace

std::optional<std::int64_t> save_number(std::string_view name) {
  constexpr std::string_view start = "save-";
  constexpr std::size_t least_digits = 6, most_digits = 18;
  if (!name.starts_with(start)) return {};
  name.remove_prefix(start.size());
  if (name.size() < least_digits || name.size() > most_digits ||
      name.find_first_not_of("0123456789") != name.npos)
    return {};
  std::int64_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

std::string save_in_force(const fs::path& folder) {
  const fs::path file = folder / in_force_file;
  auto name = read_json(file, [](const Json& json) { return json.at("save").get<std::string>(); });
  if (!save_number(name)) refuse(file);
  return name;
}

SavedTensors read_index(const fs::path& save) {
  const fs::path file = save / "index.json";
  return read_json(file, [&](const Json& json) {
    SavedTensors tensors;
    for (const auto& [name, entry] : json.at("tensors").items()) {
      SavedTensor tensor{.dtype = entry.at("dtype").get<std::string>(),
                         .shape = entry.at("shape").get<Shape>(),
                         .pieces = {}};
      for (const Json& box : entry.at("pieces")) {
        tensor.pieces.push_back({.file = box.at("file").get<std::string>(),
                                 .key = box.at("key").get<std::string>(),
                                 .offset = box.at("offset").get<Shape>(),
                                 .shape = box.at("shape").get<Shape>()});
        if (!is_inside(tensor.pieces.back(), tensor.shape)) refuse(file);
      }
      tensors.emplace(name, std::move(tensor));
    }
    return tensors;
  });
}

std::filesystem::path one_spelling(const std::filesystem::path& folder) {
  std::error_code unknown;  // where a folder above it may not be read
  auto whole = std::filesystem::weakly_canonical(std::filesystem::absolute(folder), unknown);
  if (unknown) whole = std::filesystem::absolute(folder).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace dist
