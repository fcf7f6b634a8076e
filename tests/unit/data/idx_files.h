// Files to read: IDX, gzip, and a folder for them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include <stdlib.h>

namespace dist::data::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "dist-data-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path path_;
};

inline std::string idx(std::initializer_list<std::uint32_t> shape, const std::string& elements,
                       char type = 8) {
  std::string bytes{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const auto size : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xff);
  }
  return bytes + elements;
}

// `echo hello hello hello hello | gzip -n9`
inline std::string hello_gz() {
  return {
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\xb9\x00\x00\x88\x59\x0b"
      "\x18"
      "\x00\x00\x00",
      29};
}

}  // namespace dist::data::test
