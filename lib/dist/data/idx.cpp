#include "dist/data/idx.h"

#include <cstring>
#include <fstream>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/data/gunzip.h"

namespace dist::data {
namespace {

constexpr std::size_t largest = std::size_t{1} << 30;  // bytes; MNIST's have 47 million

std::int64_t big_endian(std::span<const std::byte> four) {
  std::int64_t number = 0;
  for (const auto byte : four) number = number << 8 | static_cast<std::int64_t>(byte);
  return number;
}

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

std::vector<std::byte> read_maybe_gzip(const std::filesystem::path& file) {
  std::error_code error;
  std::ifstream in(file, std::ios::binary);
  if (!std::filesystem::is_regular_file(file, error) || !in)
    fail(Errc::resource, "{} cannot be read: does it exist, and is it a file?", file.string());
  const auto size = std::filesystem::file_size(file, error);
  if (error || size > largest)
    fail(Errc::invalid_argument, "{} has {} bytes, more than {}: is it the right file?", file.string(), size,
         largest);
  std::vector<std::byte> bytes(size);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)))
    fail(Errc::resource, "{} cannot be read to its end ({})", file.string(), counted(size, "byte"));
  return is_gzip(bytes) ? gunzip(bytes, file.string(), largest) : bytes;
}

Tensor parse_idx(std::span<const std::byte> bytes, int axes, const std::string& what) {
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(axes);
  if (bytes.size() < 4)
    fail(Errc::invalid_argument, "{} has {} only: that is not an IDX file", what,
         counted(bytes.size(), "byte"));
  const std::int64_t magic = big_endian(bytes.first(4)), wanted = 0x800 + axes;
  if (magic != wanted)
    fail(Errc::invalid_argument,
         "{} begins with {:#010x}, an IDX file of bytes with {} begins with {:#010x}: is it the right file?",
         what, magic, counted(axes, "axis", "axes"), wanted);
  if (bytes.size() < header)
    fail(Errc::invalid_argument, "{} ends within its header, after {} of {} bytes: fetch it again", what,
         bytes.size(), header);
  Shape shape;
  for (std::size_t at = 4; at < header; at += 4) shape.push_back(big_endian(bytes.subspan(at, 4)));
  const auto elements = bytes.subspan(header);
  std::int64_t promised = 1;
  for (const auto size : shape) {
    if (size != 0 && promised > static_cast<std::int64_t>(largest) / size)
      fail(Errc::invalid_argument,
           "{} promises a tensor of shape {}, which no such file holds: fetch it again", what,
           to_string(shape));
    promised *= size;
  }
  if (promised != static_cast<std::int64_t>(elements.size()))
    fail(Errc::invalid_argument, "{} has {} after its header, but its shape {} needs {}: fetch it again",
         what, counted(elements.size(), "byte"), to_string(shape), promised);
  Tensor all = empty(std::move(shape), DType::u8, cpu);
  if (!elements.empty()) std::memcpy(all.raw(), elements.data(), elements.size());
  return all;
}

}  // namespace dist::data
