// The header of a safetensors file: Parser turns its JSON into entries and refuses, one by one, what
// contradicts itself; describe_safetensors() writes one; replace_checksum() fills in the checksum.
#include "dist/nn/safetensors_header.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/shape.h"

namespace dist::nn {

namespace {

using Json = OrderedJson;

constexpr std::array<std::pair<std::string_view, DType>, all_dtypes.size()> dtype_names{
    {{"U8", DType::u8},
     {"I8", DType::i8},
     {"I32", DType::i32},
     {"I64", DType::i64},
     {"F16", DType::f16},
     {"BF16", DType::bf16},
     {"F32", DType::f32},
     {"F64", DType::f64},
     {"BOOL", DType::boolean}}};

using Entry = SafetensorsHeader::Entry;

class Parser {
 public:
  explicit Parser(const std::string& path) : path_(path) {}

  SafetensorsHeader parse(std::string_view text, std::uint64_t data_bytes) const {
    const Json json = try_parse_ordered_json(text);
    if (!json.is_object()) refuse("its header is not a JSON object; is it a safetensors file?");
    SafetensorsHeader header;
    for (const auto& [name, value] : json.items()) {
      if (name == "__metadata__")
        header.checksum = checksum_in(value);
      else
        header.entries.push_back(entry_from(name, value));
    }
    check_layout(header.entries, data_bytes);
    return header;
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> why, Args&&... args) const {
    fail(Errc::invalid_argument, "{}: {}", path_, fmt::format(why, std::forward<Args>(args)...));
  }

  std::optional<std::string> checksum_in(const Json& metadata) const {
    if (!metadata.is_object()) refuse("__metadata__ is not a JSON object; is it a safetensors file?");
    const auto found = metadata.find("crc32");
    if (found == metadata.end() && metadata.value("format", Json()) == "distlab")
      refuse("it has lost its checksum; the file has been changed");
    if (found == metadata.end()) return std::nullopt;
    if (!found->is_string() || found->get<std::string>().size() != no_checksum.size())
      refuse("its checksum does not have eight digits; the file has been changed");
    return found->get<std::string>();
  }

  std::vector<std::uint64_t> numbers(const std::string& name, const Json& entry, const char* field) const {
    const auto list = entry.is_object() ? entry.find(field) : entry.end();
    const auto is_number = [](const Json& number) { return number.is_number_unsigned(); };
    if (!entry.is_object() || list == entry.end() || !list->is_array() ||
        !std::ranges::all_of(*list, is_number))
      refuse("\"{}\" has no {}; is it a safetensors file?", name, field);
    return list->get<std::vector<std::uint64_t>>();
  }

  Entry entry_from(const std::string& name, const Json& json) const {
    const auto offsets = numbers(name, json, "data_offsets"), sizes = numbers(name, json, "shape");
    if (offsets.size() != 2) refuse("\"{}\" has {} data_offsets, not two", name, offsets.size());
    const Json dtype = json.value("dtype", Json());
    const auto known =
        std::ranges::find_if(dtype_names, [&](const auto& pair) { return dtype == pair.first; });
    if (known == dtype_names.end())
      refuse("\"{}\" has the dtype {}, which distlab does not have", name, json_text(dtype));
    Entry entry{name, known->second, Shape(sizes.begin(), sizes.end()), offsets[0], offsets[1]};
    const std::uint64_t bytes = bytes_of(entry);
    if (entry.end < entry.begin || entry.end - entry.begin != bytes)
      refuse("\"{}\", {} {}, has {} and is at [{}, {}); the file contradicts itself", name,
             to_string(entry.shape), dist::name(entry.dtype), counted(bytes, "byte"), entry.begin, entry.end);
    return entry;
  }

  std::uint64_t bytes_of(const Entry& entry) const {
    try {
      return static_cast<std::uint64_t>(checked_numel(entry.shape, entry.dtype)) * size_of(entry.dtype);
    } catch (const Error& error) {
      refuse("\"{}\": {}", entry.name, error.what());
    }
  }

  // The entries must follow each other without gaps, from the first byte to the last.
  void check_layout(std::vector<Entry>& entries, std::uint64_t data_bytes) const {
    std::ranges::sort(entries, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
    std::uint64_t next = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != next)
        refuse(
            "\"{}\" begins at byte {}, {} the data before it, which ends at {}; the file contradicts itself",
            entry.name, entry.begin, entry.begin < next ? "overlapping" : "with a gap after", next);
      next = entry.end;
    }
    if (next > data_bytes)
      refuse("it is cut off: its tensors need {}, and {} are there", counted(next, "byte"), data_bytes);
    if (next < data_bytes)
      refuse("the last tensor ends {} before the file does; the file has been changed",
             counted(data_bytes - next, "byte"));
  }

  const std::string& path_;
};

}  // namespace

std::string describe_safetensors(const StateDict& dict, std::string_view format) {
  Json json{{"__metadata__", {{"format", format}, {"crc32", no_checksum}}}};
  std::set<std::string_view> names{"__metadata__"};
  std::uint64_t next = 0;
  for (const auto& [name, tensor] : dict) {
    if (!names.insert(name).second)
      fail(Errc::invalid_argument, "save_safetensors: the name \"{}\" occurs twice, or is not for tensors",
           name);
    const DType dtype = tensor.dtype();
    const auto known = std::ranges::find(dtype_names, dtype, [](const auto& pair) { return pair.second; });
    json[name] = {
        {"dtype", known->first}, {"shape", tensor.shape()}, {"data_offsets", {next, next + tensor.nbytes()}}};
    next += tensor.nbytes();
  }
  try {
    std::string text = json_text(json);
    constexpr std::size_t alignment = 8;  // alignment of the first tensor
    text.append((alignment - text.size() % alignment) % alignment, ' ');
    return text;
  } catch (const Json::exception&) {
    fail(Errc::invalid_argument, "save_safetensors: a name is not UTF-8 text");
  }
}

void replace_checksum(std::string& header, std::string_view before, std::string_view after) {
  const std::string quoted = fmt::format("\"{}\"", before);
  const auto at = header.find(quoted, header.find("\"crc32\""));
  if (at != header.npos) header.replace(at + 1, after.size(), after);
}

SafetensorsHeader parse_safetensors(const std::string& path, std::string_view text,
                                    std::uint64_t data_bytes) {
  return Parser(path).parse(text, data_bytes);
}

}  // namespace dist::nn
