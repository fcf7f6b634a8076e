// Stage: the folder that a graded process sees as "/": its program and the libraries that this needs, each at
// its own path, and the door. One folder is quicker to show than each file by itself, and every rank of every
// run is started with it.
#pragma once

#include <string>
#include <vector>

#include "judge/confined_run.h"

namespace judge {

class Stage {
 public:
  // Throws Trouble when there is no room for it where programs can be executed.
  // `files`: the program is the last one. `has_tmp`: there is a place for /tmp.
  Stage(const std::vector<std::string>& files, bool has_tmp);

  const std::string& path() const { return folder_.path(); }
  // Files to be shown at their paths, after a /tmp where there is one: those that are too large to be copied,
  // in whose place is an empty one, and those that such a /tmp would hide.
  const std::vector<std::string>& to_be_bound() const { return to_be_bound_; }

 private:
  ScratchFolder folder_;
  std::vector<std::string> to_be_bound_;
};

}  // namespace judge
