// The files of a run's ranks, and how they are joined into one.
#pragma once

#include <string>

namespace dist::trace {

// Where rank `rank` of `ranks` writes its events when `path` was asked for: "trace.rank3.json" for
// "trace.json". A single rank writes the file itself.
std::string part_path(const std::string& path, int rank, int ranks);

// An absolute path, which holds after the working directory has changed; empty stays empty.
std::string absolute_path(const std::string& path);

// For a launcher that starts the ranks of one host and sees them all end: they run while this lives. First
// it removes what an earlier run left; at the end it joins the ranks' files into the one that was asked
// for (a line of DIST_LOG=info says so), even if some ranks have left none. A failure is a warning, and the
// ranks' files stay. An empty path means no trace.
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
