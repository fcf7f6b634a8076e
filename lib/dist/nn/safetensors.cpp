// Saving and loading of safetensors files: Reader, which knows how many bytes are left, the header's length
// and text (safetensors_header.h parses it), the tensors, and the checksum over both.
#include "dist/nn/safetensors.h"

#include <bit>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dist/core/counted.h"
#include "dist/core/crc32.h"
#include "dist/core/fail.h"
#include "dist/core/handles.h"
#include "dist/core/whole_file.h"
#include "dist/nn/safetensors_header.h"

namespace dist::nn {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "the format is little endian");

namespace {

constexpr std::uint64_t most_header = 100'000'000;  // bytes; the format's own limit

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
std::span<const std::byte> bytes_of(const Tensor& t) {
  return {static_cast<const std::byte*>(t.raw()), t.nbytes()};
}

class Reader {
 public:
  explicit Reader(const fs::path& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0)
      fail_errno(Errc::resource, errno, fmt::format("{}: opening the file", path.string()));
    if (!S_ISREG(status.st_mode))
      fail(Errc::invalid_argument, "{}: this is not a regular file; name a safetensors file", path.string());
    left_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::uint64_t left() const { return left_; }

  // The next bytes, of which there are enough.
  void read(std::span<std::byte> bytes) {
    left_ -= bytes.size();
    while (!bytes.empty()) {
      const ssize_t count = ::read(file_.get(), bytes.data(), bytes.size());
      if (count == 0) fail(Errc::invalid_argument, "{}: it became shorter while it was read", path_.string());
      if (count < 0 && errno != EINTR)
        fail_errno(Errc::resource, errno, fmt::format("{}: reading the file", path_.string()));
      if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

 private:
  fs::path path_;
  UniqueFd file_;
  std::uint64_t left_ = 0;
};

std::string read_header(Reader& file, const fs::path& path) {
  std::uint64_t length = 0;
  if (file.left() < sizeof length)
    fail(Errc::invalid_argument, "{}: a file of {} is not a safetensors file", path.string(),
         counted(file.left(), "byte"));
  file.read(std::as_writable_bytes(std::span(&length, 1)));
  if (length > most_header)
    fail(Errc::invalid_argument,
         "{}: a header of {} bytes is beyond the format's limit of {}; is it a safetensors file?",
         path.string(), length, most_header);
  if (length > file.left())
    fail(Errc::invalid_argument,
         "{}: its header should have {} bytes, but only {} follow; is it a safetensors file, and complete?",
         path.string(), length, file.left());
  std::string text(length, ' ');
  file.read(std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

void save_safetensors(const fs::path& path, const StateDict& dict, std::string_view format) {
  if (!dict.divided.empty())
    fail(Errc::invalid_argument,
         "{}: this rank has a part of \"{}\": save what full_state_dict() returns, which every rank must "
         "call, or "
         "each rank's pieces with save_sharded()",
         path.string(), dict.divided);
  std::string header = describe_safetensors(dict, format);
  StateDict here;
  std::uint32_t checksum = crc32(bytes_of(header));
  for (const auto& [name, tensor] : dict) {
    here.push_back({name, tensor.to(cpu)});
    checksum = crc32(bytes_of(here.back().tensor), checksum);
  }
  replace_checksum(header, no_checksum, fmt::format("{:08x}", checksum));

  WholeFile file(path);
  const std::uint64_t length = header.size();
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(bytes_of(header));
  for (const auto& [name, tensor] : here) file.write(bytes_of(tensor));
  file.finish(/*on_disk=*/true);
}

StateDict load_safetensors(const fs::path& path) {
  Reader file(path);
  std::string text = read_header(file, path);
  const SafetensorsHeader header = parse_safetensors(path.string(), text, file.left());
  if (header.checksum) replace_checksum(text, *header.checksum, no_checksum);
  std::uint32_t checksum = crc32(bytes_of(text));
  StateDict dict;
  for (const auto& entry : header.entries) {
    const Tensor tensor = empty(entry.shape, entry.dtype, cpu);
    file.read({static_cast<std::byte*>(tensor.raw()), tensor.nbytes()});
    checksum = crc32(bytes_of(tensor), checksum);
    dict.push_back({entry.name, tensor});
  }
  if (const auto computed = fmt::format("{:08x}", checksum); header.checksum && *header.checksum != computed)
    fail(Errc::invalid_argument,
         "{}: its checksum is {}, that of its contents {}; the file has been changed, take another",
         path.string(), *header.checksum, computed);
  return dict;
}

}  // namespace dist::nn
