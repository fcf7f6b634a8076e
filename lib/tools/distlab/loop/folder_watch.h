// FolderWatch: notices when a file is saved. Editors write a new file and rename it, so it watches the
// folder.
#pragma once

#include <filesystem>

#include <sys/types.h>

#include "dist/core/handles.h"

namespace distlab::loop {

class FolderWatch {
 public:
  explicit FolderWatch(std::filesystem::path file);

  // Readable when something has changed in the folder. -1 if the system cannot report changes; then, and for
  // folders on a network, call has_changed() from time to time.
  int fd() const { return inotify_.get(); }
  // Returns true once after the file was saved with another size, time or inode.
  bool has_changed();

 private:
  struct Stamp {
    ino_t inode = 0;
    off_t bytes = 0;
    timespec written{};
    bool exists = false;
    bool operator==(const Stamp& other) const;
  };
  Stamp stamp() const;

  std::filesystem::path file_;
  dist::UniqueFd inotify_;
  Stamp last_;
};

}  // namespace distlab::loop
