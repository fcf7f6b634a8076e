// An append-only log of records in one file that several processes share: what a file store is made of.
//
// The file is a 16-byte header and records, each a frame as in wire.h: length u32, checksum u32 (of the
// payload), payload. Records are appended under an exclusive lock, so one is either whole or, when its
// writer was killed in the middle, a torn tail: readers stop before it and the next writer cuts it off.
// Locks belong to the open file, and the system gives them back when its process dies.
#pragma once

#include <functional>
#include <string>

#include "dist/core/deadline.h"
#include "dist/core/error.h"
#include "dist/core/handles.h"
#include "dist/store/store.h"

namespace dist {

// Not synchronised between threads; between processes, and other FileLogs of this one, by the lock.
class FileLog {
 public:
  // Makes the file if it is missing. Error{connection}: it cannot be opened, or is no log of ours.
  explicit FileLog(std::string path);

  // The lock on the log while it lives. Error{connection} when others hold it beyond the deadline.
  class Lock {
   public:
    Lock(const FileLog& log, short type, Deadline deadline);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    int fd_;
  };
  Lock lock_shared(Deadline deadline) const;
  Lock lock_exclusive(Deadline deadline) const;

  bool has_news() const;  // something stands behind what was read; needs no lock
  // Hands over every record not read yet. Under a lock. Error{connection} for a damaged file, or one removed.
  void read(const std::function<void(ConstBytes)>& record);
  // Under the exclusive lock, with everything read. Error{resource} when the disk is full: then nothing is
  // added.
  void append(ConstBytes payload);
  void be_present() const noexcept;  // others are not alone while this log lives
  // Under the exclusive lock: whether no other FileLog, in any process that lives, is present.
  bool is_alone() const noexcept;
  void clear();             // under the exclusive lock: as new
  void remove();            // under the exclusive lock; a link that leads to the file stays
  bool is_removed() const;  // somebody did so

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail_damaged() const;
  [[noreturn]] void fail_system(Errc code, std::string_view what, std::string_view remedy) const;  // of errno
  std::string file() const;
  std::size_t size() const;
  Bytes read_at(std::size_t offset, std::size_t n) const;
  void write_at(std::size_t offset, ConstBytes bytes);
  bool adopt();  // writes or checks the header; false: the file was removed meanwhile

  std::string path_;
  UniqueFd fd_;
  std::size_t read_to_ = 0;  // bytes: all before it has been handed over
};

}  // namespace dist
