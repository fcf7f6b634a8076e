#include "distlab/loop/folder_watch.h"

#include <array>
#include <utility>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace distlab::loop {

bool FolderWatch::Stamp::operator==(const Stamp& other) const {
  return exists == other.exists && inode == other.inode && bytes == other.bytes &&
         written.tv_sec == other.written.tv_sec && written.tv_nsec == other.written.tv_nsec;
}

FolderWatch::FolderWatch(std::filesystem::path file)
    : file_(std::move(file)), inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), last_(stamp()) {
  const auto folder = file_.parent_path();
  if (inotify_.get() >= 0 &&
      ::inotify_add_watch(inotify_.get(), folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
    inotify_.reset();
}

FolderWatch::Stamp FolderWatch::stamp() const {
  struct stat found {};
  if (::stat(file_.c_str(), &found) != 0) return {};
  return {found.st_ino, found.st_size, found.st_mtim, true};
}

bool FolderWatch::has_changed() {
  std::array<char, 4096> events{};
  while (inotify_.get() >= 0 && ::read(inotify_.get(), events.data(), events.size()) > 0) {
  }
  const Stamp now = stamp();
  if (!now.exists || now == last_) return false;  // while an editor replaces the file, it may not exist
  last_ = now;
  return true;
}

}  // namespace distlab::loop
