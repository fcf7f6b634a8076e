// How distlab writes every file: whole or not at all.
//
// A path is first followed through its links. What it leads to decides:
//   nothing, or a regular file   a new file beside it takes its place when it is complete, with the mode,
//                                owner and group of the old one. Other hard links keep the old contents.
//   a regular file that cannot   it is written in place: its owner cannot be kept (it is another user's), its
//   be replaced                  folder is read-only, it has an access list, or it is a mount point
//   a pipe, terminal, device     written through and left as it is; /dev/stdout and /dev/fd/N are the
//                                process's own descriptors. A pipe that no process reads is refused.
//   a folder, socket or disk     refused, and so is a file that no user may write (mode 0444), for root too
// A process that is killed while it writes leaves the new file beside the old one; the next process that
// writes this path removes it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "dist/core/handles.h"

struct stat;

namespace dist {

// Every member throws Error{resource} in one line that names the path and says what to do.
class WholeFile {
 public:
  // Throws Error{invalid_argument} for an empty path.
  explicit WholeFile(const std::filesystem::path& path);
  ~WholeFile();  // without finish(): an old file that is to be replaced is unchanged
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // Puts the file in its place; nothing may be written after that. `on_disk`: it also survives a loss of
  // power.
  void finish(bool on_disk = false);

 private:
  bool open_beside(const struct stat* old);
  [[noreturn]] void refuse(int error_number) const;

  const std::filesystem::path asked_;
  std::filesystem::path path_;  // links followed
  std::string beside_;          // the new file, where there is one
  UniqueFd fd_;
};

void write_whole_file(const std::filesystem::path& path, std::string_view text);

// Throws what WholeFile and its members would throw, as far as that can be known in advance.
void check_whole_file(const std::filesystem::path& path);

// Throws Error{invalid_argument} for a device: a file that is read whole must have an end, and /dev/zero has
// none. `what` says what was expected: "the topology".
void refuse_device(std::string_view what, const std::filesystem::path& path);

}  // namespace dist
