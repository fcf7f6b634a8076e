// The files of a run's ranks, and how they become one.
#pragma once

#include <string>

namespace dist::trace {

// Where rank `rank` of `ranks` leaves its events when `path` was asked for: "trace.rank3.json" for
// "trace.json". A single rank takes the file itself.
std::string part_path(const std::string& path, int rank, int ranks);

// The same file after the working directory has changed; empty stays empty.
std::string absolute_path(const std::string& path);

// For who starts the ranks of one host and sees them all end: while it lives they run. Removes what an
// earlier run has left; in the end the ranks' files become the one that was asked for (a line of
// DIST_LOG=info says so), also when some ranks have left none. Trouble is a warning, and the ranks' files
// stay. An empty path: no trace.
class JoinedTrace {
 public:
  JoinedTrace(const std::string& path, int ranks);
  ~JoinedTrace();
  JoinedTrace(const JoinedTrace&) = delete;
  JoinedTrace& operator=(const JoinedTrace&) = delete;

 private:
  void join() const;

  const std::string path_;
  const int ranks_;
};

}  // namespace dist::trace
