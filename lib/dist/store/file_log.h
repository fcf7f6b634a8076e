// An append-only log of records in one file that several processes share: the basis of the file store.
//
// The file is a 16-byte header and records, each a frame as in wire.h: length u32, checksum u32 (of the
// payload), payload. Records are appended under an exclusive lock, so a record is either whole or, if its
// writer was killed in the middle, a torn tail: readers stop before it and the next writer cuts it off. Locks
// belong to the open file, and the system releases them when its process dies.
#pragma once

#include <functional>
#include <string>

#include "dist/core/deadline.h"
#include "dist/core/error.h"
#include "dist/core/handles.h"
#include "dist/store/store.h"

namespace dist {

// Not synchronised between threads; the lock synchronises processes, and the FileLogs of one process.
class FileLog {
 public:
  // Makes the file if it is missing. Throws Error{connection} if it cannot be opened or is not such a log.
  explicit FileLog(std::string path);

  // Holds the lock on the log while it lives. Throws Error{connection} when others hold it beyond the
  // deadline.
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

  bool has_news() const;  // more bytes follow what was read; needs no lock
  // Calls `record` for every record not read yet. Needs a lock. Throws Error{connection} for a file that is
  // damaged or was removed.
  void read(const std::function<void(ConstBytes)>& record);
  // Needs the exclusive lock, and everything read. Throws Error{resource} when the disk is full; then nothing
  // is added.
  void append(ConstBytes payload);
  void be_present() const noexcept;  // others are not alone while this log lives
  // Needs the exclusive lock. Whether no other FileLog is present, in any living process.
  bool is_alone() const noexcept;
  void clear();             // needs the exclusive lock; makes the log as new
  void remove();            // needs the exclusive lock; a link to the file stays
  bool is_removed() const;  // some user has removed it

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail_damaged() const;
  // `what` failed with errno.
  [[noreturn]] void fail_system(Errc code, std::string_view what, std::string_view remedy) const;
  std::string file() const;
  std::size_t size() const;
  Bytes read_at(std::size_t offset, std::size_t n) const;
  void write_at(std::size_t offset, ConstBytes bytes);
  bool adopt();  // writes or checks the header; false: the file has been removed

  std::string path_;
  UniqueFd fd_;
  std::size_t read_to_ = 0;  // bytes: `record` has been called for all before it
};

}  // namespace dist
