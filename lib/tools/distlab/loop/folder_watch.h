// FolderWatch: hears when a file is saved. Editors write a new file and rename it, so its folder is watched.
#pragma once

#include <filesystem>

#include <sys/types.h>

#include "dist/core/handles.h"

namespace distlab::loop {

class FolderWatch {
 public:
  explicit FolderWatch(std::filesystem::path file);

  // Readable when something has happened in the folder; -1 where the system does not tell (then ask
  // has_changed() from time to time, as for folders on the network, whose other users are not heard of).
  int fd() const { return inotify_.get(); }
  // True once for each time the file was saved with another content or time.
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
